/**
 * Guarantee: the services in infra/compose.yaml start on empty volumes without help, use separate passwords, and
 * come back with their data after any container is killed or all are stopped.
 *
 * Where the image of EventStoreDB cannot be pulled, the embedded store replaces it, in a container too.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { type Client, client } from '../flows/vendor.ts'
import { composeFile, engineOfRun, images, label } from '../harness/container-engine.ts'
import { freePort } from '../harness/process.ts'
import { waitMs } from '../harness/time-limits.ts'
import { buildImage, findCompose, keepCheckingHealth, root, runWith } from './programs.ts'

const engine = await engineOfRun()
const { dockerode } = engine.client.container
const tag = 'localhost/keyledger-test:compose'
const project = `keyledger-test-${randomBytes(4).toString('hex')}`
const port = await freePort()
const address = `http://127.0.0.1:${port}`

const hex = () => randomBytes(16).toString('hex')
const secrets = {
  KEYLEDGER_MASTER_KEY: randomBytes(32).toString('base64'),
  POSTGRES_PASSWORD: hex(),
  POSTGRES_APP_PASSWORD: hex(),
  POSTGRES_SCHEMA_PASSWORD: hex(),
}

let file = ''
let vendor: Client
let licenseKey: string
let stopChecking: (() => void) | undefined

const Service = z.looseObject({ image: z.string(), build: z.unknown().optional() })
const File = z.looseObject({
  services: z.record(z.string(), Service),
  volumes: z.record(z.string(), z.unknown()),
})

/** compose.yaml with a port, an image and labels for this test. */
async function fileOfTest(): Promise<string> {
  // Older versions of Compose know neither `name` nor extensions.
  const {
    name: _,
    'x-keyledger': __,
    ...whole
  } = File.parse(parse(readFileSync(composeFile, 'utf8'), { merge: true }))
  const services: Record<string, object> = {}
  for (const [name, { build, ...service }] of Object.entries(whole.services)) {
    services[name] = { ...service, labels: engine.labels, ...(build !== undefined && { image: tag }) }
  }
  // The file of the variables is the operator's; this test gives them in its environment.
  services.variables = { ...services.variables, env_file: undefined }
  services.keyledger = { ...services.keyledger, ports: [`127.0.0.1:${port}:8080`] }
  if (!(await engine.has(images.eventStore))) services.eventstore = standIn()
  const labelled = { labels: engine.labels }
  const made = {
    ...whole,
    version: '3.9',
    services,
    volumes: Object.fromEntries(Object.keys(whole.volumes).map((name) => [name, labelled])),
    networks: { default: labelled },
  }
  // YAML 1.1 quotes "no", so that every parser reads it as a string.
  return stringify(made, { version: '1.1' })
}

/** The embedded event store, in keyledger's image. */
function standIn(): object {
  const script = '/app/test/containers/event-store-stand-in.ts'
  return {
    image: tag,
    labels: engine.labels,
    user: '0',
    entrypoint: ['node', script],
    volumes: [
      `${root}test/containers/event-store-stand-in.ts:${script}:ro`,
      'eventstore-data:/var/lib/eventstore',
    ],
    healthcheck: {
      // Without spaces, because podman splits the command at them.
      test: ['CMD', 'node', '--eval', "net.connect(2113,'127.0.0.1').on('connect',()=>process.exit(0))"],
      interval: '1s',
      retries: 60,
    },
    restart: 'always',
  }
}

async function compose(...words: string[]): Promise<string> {
  const program = await findCompose()
  if (!program)
    throw new Error('there is no Compose: install docker compose, docker-compose or podman-compose')
  const given = ['--project-name', project, '--file', '-']
  const { code, stdout, stderr } = await runWith(file, [...program, ...given, ...words], secrets)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`)
  return stdout
}

async function containerOf(service: string) {
  const filters = {
    label: [`com.docker.compose.project=${project}`, `com.docker.compose.service=${service}`],
  }
  const [found] = await dockerode.listContainers({ all: true, filters })
  if (!found) throw new Error(`no container of ${service}`)
  return dockerode.getContainer(found.Id)
}

const run = async (service: string, ...words: string[]) =>
  engine.client.container.exec(await containerOf(service), words, {
    env: { PGPASSWORD: secrets.POSTGRES_PASSWORD },
  })

const Token = z.looseObject({ token: z.string() })

beforeAll(async () => {
  await buildImage(tag)
  file = await fileOfTest()
  stopChecking = await keepCheckingHealth(`${label}=${engine.labels[label]}`)
  await compose('up', '--detach')
  await untilReady()
  expect(await run('keyledger', 'keyledger', 'tenant', 'create', 'acme')).toMatchObject({ exitCode: 0 })
  const scopes = 'products:write,licenses:write,licenses:read,licenses:runtime'
  const asked = await run(
    'keyledger',
    'keyledger',
    'token',
    'create',
    '--tenant',
    'acme',
    '--scopes',
    scopes,
    '--json',
  )
  vendor = client(address, Token.parse(JSON.parse(asked.stdout)).token)
  await vendor.createProduct(1)
  ;({ licenseKey } = await vendor.mint())
  expect((await vendor.activate(licenseKey, 'laptop')).status).toBe(200)
}, 900_000)

afterAll(async () => {
  stopChecking?.()
  await engine.close()
}, 120_000)

async function untilReady(): Promise<void> {
  const ask = async () => expect((await fetch(`${address}/readyz`)).status).toBe(200)
  await vi.waitFor(ask, { timeout: waitMs, interval: 100 })
}

async function expectAllIsThere(): Promise<void> {
  expect((await vendor.validate(licenseKey, 'laptop')).body).toMatchObject({ valid: true })
  const { licenseId } = await vendor.mint()
  expect((await vendor.send('GET', `/v1/licenses/${licenseId}`)).status).toBe(200)
}

test('no service has more rights than it needs, and each only its own passwords', async () => {
  const roles = `select rolname, rolsuper or rolcreatedb or rolcreaterole from pg_roles where rolname like 'keyledger%' order by 1`
  const { stdout } = await run(
    'postgres',
    'psql',
    '--username=postgres',
    '--host=127.0.0.1',
    '--csv',
    '--tuples-only',
    '-c',
    roles,
  )
  expect(stdout.trim().split('\n')).toStrictEqual(['keyledger_app,f', 'keyledger_schema,f'])
  const { Config, HostConfig } = await (await containerOf('keyledger')).inspect()
  const { KEYLEDGER_MASTER_KEY, POSTGRES_APP_PASSWORD, ...others } = secrets
  for (const secret of Object.values(others)) expect(Config.Env.join(' ')).not.toContain(secret)
  expect(HostConfig.ReadonlyRootfs).toBe(true)
  expect(Config.User).toBe('1000:1000')
  const health = async () => (await (await containerOf('keyledger')).inspect()).State.Health?.Status
  await expect.poll(health).toBe('healthy')
})

test.each(['keyledger', 'nats', 'postgres', 'eventstore'])(
  '%s is restarted after kill -9, with all its data',
  async (service) => {
    const container = await containerOf(service)
    const { Pid } = (await container.inspect()).State
    process.kill(Pid, 'SIGKILL')
    const isAnother = async () => {
      const { State } = await container.inspect()
      return State.Running && State.Pid !== Pid
    }
    await expect.poll(isAnother).toBe(true)
    await untilReady()
    await expectAllIsThere()
  },
)

test('all data is there after a stop and a start of everything', async () => {
  await compose('stop')
  await compose('up', '--detach')
  await untilReady()
  await expectAllIsThere()
  expect(await run('keyledger', 'keyledger', 'projections', 'verify')).toMatchObject({ exitCode: 0 })
})
