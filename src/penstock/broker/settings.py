"""What the local broker is told: its server.properties, its log format and its JVM options."""

from __future__ import annotations

from collections.abc import Mapping

HOST = "127.0.0.1"
NODE_ID = 1
# One fixed id: a data folder made by one start can be used by the next.
CLUSTER_ID = "cGVuc3RvY2stYnJva2VyMA"

# C1 alone starts fastest; the broker itself runs long enough to earn the full compiler.
FORMAT_JVM_OPTIONS = ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
BROKER_JVM_OPTIONS = ("-Xms64m", "-XX:+UseSerialGC", "-Xshare:auto", "-Djava.awt.headless=true")

LOG4J2 = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c{1})%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
"""


def server_properties(*, port: int, controller_port: int, data: str, overrides: Mapping[str, str]) -> str:
    """The text of server.properties for a single node that is broker and controller."""
    settings = {
        "process.roles": "broker,controller",
        "node.id": str(NODE_ID),
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        # Read anew at every start, so that a kept data folder may come up on other ports.
        "controller.quorum.voters": f"{NODE_ID}@{HOST}:{controller_port}",
        "log.dirs": data,
        **_DEVELOPMENT,
        **overrides,
    }
    return "".join(f"{key}={_escape(value)}\n" for key, value in settings.items())


_DEVELOPMENT = {
    # Retention goes by record timestamp: test data of last year would be deleted at once.
    "log.retention.ms": "-1",
    "log.retention.bytes": "-1",
    # A mistyped topic name is an error, not a new topic.
    "auto.create.topics.enable": "false",
    # One node holds the only replica of everything.
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    # Consumers need not wait for others that will not come.
    "group.initial.rebalance.delay.ms": "0",
    # After a crash the controller keeps the node's old registration for this long (9 s by default).
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # Small: few threads, a small cleaner buffer (128 MB of heap otherwise), small index files.
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
    "log.cleaner.dedupe.buffer.size": "16777216",
    "log.index.size.max.bytes": "1048576",
}


def _escape(value: str) -> str:
    # Java's properties format: a backslash starts an escape.
    return value.replace("\\", "\\\\")
