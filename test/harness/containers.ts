import { randomBytes } from 'node:crypto'
import { NatsContainer } from '@testcontainers/nats'
import { PostgreSqlContainer } from '@testcontainers/postgresql'
import pg from 'pg'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'
import { type Engine, images } from './container-engine.ts'

export type Store = { url: string; container: StartedTestContainer }

// A fixed port, so that it is the same after a restart of the container.
const at = (container: number, host: number) => ({ container, host })

/** @param port the port on this machine. @returns the URL of the superuser */
export async function startPostgresContainer({ labels }: Engine, port: number): Promise<Store> {
  const container = await new PostgreSqlContainer(images.postgres)
    .withUsername('postgres')
    .withPassword(randomBytes(16).toString('hex'))
    .withDatabase('keyledger')
    .withEnvironment({ POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C' })
    .withExposedPorts(at(5432, port))
    .withLabels(labels)
    // Waits for ports instead of health, because podman needs systemd for health checks.
    .withWaitStrategy(Wait.forListeningPorts())
    .start()
  const url = container.getConnectionUri()
  await untilItAnswers(url)
  return { url, container }
}

/** NATS with JetStream and a password. */
export async function startNatsContainer({ labels }: Engine, port: number): Promise<Store> {
  const container = await new NatsContainer(images.nats)
    .withPass(randomBytes(16).toString('hex'))
    .withJetStream()
    .withExposedPorts(at(4222, port))
    .withLabels(labels)
    .start()
  const { servers, user, pass } = container.getConnectionOptions()
  return { url: `nats://${user}:${pass}@${String(servers)}`, container }
}

/** One node of EventStoreDB with its log in memory. */
export async function startEventStoreContainer({ labels }: Engine, port: number): Promise<Store> {
  const container = await new GenericContainer(images.eventStore)
    .withEnvironment({
      EVENTSTORE_INSECURE: 'true',
      EVENTSTORE_CLUSTER_SIZE: '1',
      EVENTSTORE_RUN_PROJECTIONS: 'None',
      EVENTSTORE_MEM_DB: 'true',
    })
    // The image names 1112 and 1113 too: with podman, testcontainers waits until every named port is bound.
    .withExposedPorts(at(2113, port), 1112, 1113)
    .withLabels(labels)
    .withWaitStrategy(Wait.forHttp('/health/live', 2113).forStatusCode(204))
    .withStartupTimeout(120_000)
    .start()
  return { url: `esdb://${container.getHost()}:${port}?tls=false`, container }
}

/**
 * Creates a role for tests that may create databases but is no superuser, so that operations which need one fail.
 * @returns its URL
 */
export async function letTestsIn(superuserUrl: string): Promise<string> {
  const password = randomBytes(16).toString('hex')
  const superuser = new pg.Client({ connectionString: superuserUrl })
  await superuser.connect()
  try {
    await superuser.query(`create role tester login createdb password '${password}'`)
  } finally {
    await superuser.end()
  }
  const url = new URL(superuserUrl)
  url.username = 'tester'
  url.password = password
  url.pathname = '/postgres'
  return url.toString()
}

async function untilItAnswers(url: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return
    } catch (error) {
      if (tries === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}
