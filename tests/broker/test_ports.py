from __future__ import annotations

import socket

from penstock.broker.ports import free_port, is_free, is_open


def test_a_port_is_taken_while_somebody_listens_on_it() -> None:
    port = free_port()
    assert (is_free(port), is_open(port)) == (True, False)
    with socket.create_server(("127.0.0.1", port)):
        assert (is_free(port), is_open(port)) == (False, True)
    assert (is_free(port), is_open(port)) == (True, False)


def test_free_ports_stay_clear_of_outgoing_connections() -> None:
    # Linux numbers those from 32768, macOS from 49152.
    assert all(1024 < free_port() < 32_768 for _ in range(20))
