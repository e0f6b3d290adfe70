/** The files of a new application, by name. */
export function scaffoldFiles(applicationId: string): Readonly<Record<string, string>> {
  return {
    [`${applicationId}.yaml`]: applicationYaml(applicationId),
    'docker-compose.yml': composeYaml(applicationId),
    'README.md': readme(applicationId),
  }
}

function applicationYaml(applicationId: string): string {
  return `# Counts words. Input: lines of text (keys do not matter). Output: word → count so far.
streams:
  application.id: ${applicationId}
  state.dir: \${STATE_DIR:-./state}

kafka:
  bootstrap.servers: \${KAFKA_BOOTSTRAP_SERVERS:-127.0.0.1:9092}

sources:
  lines: { topic: lines, value: string }

steps:
  words: { from: lines, flatMap: { each: 'value.lowerAscii().split(" ")', value: item }, serdes: { value: string } }
  word-counts: { from: words, groupBy: value, count: {} }

sinks:
  out: { from: word-counts, topic: words }

tests:
  - name: counts every word
    inputs:
      - { source: lines, value: A rose is a rose }
    outputs:
      - { sink: out, key: a, value: 1 }
      - { sink: out, key: rose, value: 1 }
      - { sink: out, key: is, value: 1 }
      - { sink: out, key: a, value: 2 }
      - { sink: out, key: rose, value: 2 }
`
}

function composeYaml(applicationId: string): string {
  return `# \`docker compose up --detach --wait kafka\`: Kafka alone. \`docker compose up\`: Kafka, the topics, and the application, after its
# image has been built from the source of millrace (README.md).
services:
  kafka:
    image: apache/kafka:4.1.0
    ports: ['127.0.0.1:9092:9092']
    environment:
      CLUSTER_ID: Nk018hRAQFytWskYqtQduw
      KAFKA_NODE_ID: '1'
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_LISTENERS: INTERNAL://:19092,EXTERNAL://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:19092,EXTERNAL://127.0.0.1:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@127.0.0.1:9093
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1'
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1'
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1'
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0'
    healthcheck:
      test: ['CMD', '/opt/kafka/bin/kafka-broker-api-versions.sh', '--bootstrap-server', 'localhost:9092']
      interval: 5s
      timeout: 10s
      retries: 12
  topics:
    image: apache/kafka:4.1.0
    depends_on: { kafka: { condition: service_healthy } }
    entrypoint: ['/bin/sh', '-c']
    command:
      - >-
        /opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka:19092 --create --if-not-exists --topic lines --partitions 4 &&
        /opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka:19092 --create --if-not-exists --topic words --partitions 4
  ${applicationId}:
    image: millrace
    pull_policy: never # it is built here; whatever registries have under that name is something else
    depends_on: { topics: { condition: service_completed_successfully } }
    command: ['run', '/app/config/${applicationId}.yaml', '--set', 'http.host=0.0.0.0']
    environment: { KAFKA_BOOTSTRAP_SERVERS: 'kafka:19092', STATE_DIR: /state }
    volumes: ['./${applicationId}.yaml:/app/config/${applicationId}.yaml:ro', 'state:/state']
    ports: ['127.0.0.1:8080:8080']
    stop_grace_period: 40s # longer than shutdown.timeout.ms
volumes:
  state: {}
`
}

function readme(applicationId: string): string {
  return `# ${applicationId}

\`\`\`sh
millrace test ${applicationId}.yaml       # runs the tests of the file, no broker needed
millrace validate ${applicationId}.yaml   # checks the file
millrace graph ${applicationId}.yaml      # shows topics, steps and stores
millrace check ${applicationId}.yaml      # compares it with the cluster, changes nothing
millrace topics ${applicationId}.yaml     # creates the output and internal topics
millrace run ${applicationId}.yaml        # the service
\`\`\`

The last three need a Kafka, at \`KAFKA_BOOTSTRAP_SERVERS\` or 127.0.0.1:9092, such as the one of \`docker-compose.yml\`; the input topic,
\`lines\`, must exist:

\`\`\`sh
docker compose up --detach --wait kafka
docker compose run --rm topics            # creates the topics, both with 4 partitions
\`\`\`

All of it in containers: build the image of millrace once, in a clone of its source, and start.

\`\`\`sh
docker build --tag millrace <the folder of the clone>
docker compose up
\`\`\`

A supervisor starts \`millrace run\` itself, or a shell that ends in \`exec millrace run …\`: what \`npx\`, \`npm\` or a shell in between is told by
SIGTERM may not reach it.

Readers of the output topic must read \`isolation.level=read_committed\`.
`
}
