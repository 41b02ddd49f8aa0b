"""The Connect worker: its settings, the connectors it holds, their states, and what the REST API asks of it.

    worker_config.py    settings of a worker, from its properties file
    herder.py           every operation of the REST API as a method; answers are plain data
    supervisor.py       brings what runs in line with what is wanted, connector by connector
    config_store.py     configurations and wanted states: in memory, or in a Kafka topic
    status_store.py     states and topics of connectors and tasks: in memory, or in a Kafka topic
    standalone.py       one worker, connectors from files
    distributed.py      several workers of one group, everything in topics, one of them leads

May import everything else in connect/; only rest/ and the command line import it.
"""
