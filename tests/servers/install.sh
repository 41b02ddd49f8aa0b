#!/usr/bin/env bash
# Installs the database servers the tests start: PostgreSQL and MariaDB from Debian's packages. Does nothing where they are.
# No service is left running: the tests start servers of their own, with private data folders.
set -euo pipefail

missing=()
command -v postgres >/dev/null || compgen -G "/usr/lib/postgresql/*/bin/postgres" >/dev/null || missing+=(postgresql)
{ command -v mariadbd || [ -x /usr/sbin/mariadbd ]; } >/dev/null || missing+=(mariadb-server-core)
command -v my_print_defaults >/dev/null || missing+=(mariadb-client-core)  # mariadb-install-db calls it
[ ${#missing[@]} -gt 0 ] || exit 0

by_hand="Install PostgreSQL and MariaDB by hand so that postgres and mariadbd are on PATH; the tests need no running service."
if ! command -v apt-get >/dev/null; then
    echo "make servers: ${missing[*]} missing, and there is no apt-get to install them with. $by_hand" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
        echo "make servers: ${missing[*]} missing, and installing them takes root. Run: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

# Debian's packages ask this file whether they may start their service; 101 means no.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod +x "$policy"
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
"${apt[@]}" update
"${apt[@]}" install --no-install-recommends --yes "${missing[@]}" >/dev/null
