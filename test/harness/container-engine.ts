import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ContainerRuntimeClient } from 'testcontainers'
import { parse } from 'yaml'
import { z } from 'zod'

// The reaper of testcontainers needs one more image. A process of our own, below, removes what is left.
process.env.TESTCONTAINERS_RYUK_DISABLED = 'true'

/** Sockets of engines, when `DOCKER_HOST` is not set. testcontainers knows the first one. */
const sockets = ['/var/run/docker.sock', '/run/podman/podman.sock']

export const composeFile = fileURLToPath(new URL('../../infra/compose.yaml', import.meta.url))

const Compose = z.looseObject({ services: z.record(z.string(), z.looseObject({ image: z.string() })) })
const imageOf = (service: string): string => {
  const found = Compose.parse(parse(readFileSync(composeFile, 'utf8'), { merge: true })).services[service]
  if (!found) throw new Error(`compose.yaml has no service ${service}`)
  return found.image
}

/** The pinned images of the stores: those of compose.yaml. */
export const images = {
  postgres: imageOf('postgres'),
  nats: imageOf('nats'),
  eventStore: imageOf('eventstore'),
} as const

export type Engine = {
  readonly client: ContainerRuntimeClient
  /** The labels of every container, by which it is removed also when this process is killed. */
  readonly labels: Record<string, string>
  /** Whether the image exists or can be pulled within a minute. */
  has(image: string): Promise<boolean>
  /** Removes all containers, networks and volumes that have the labels. */
  close(): Promise<void>
}

/** @returns the container engine of this machine, or undefined when none answers within two seconds */
export async function openEngine(): Promise<Engine | undefined> {
  const address = process.env.DOCKER_HOST ?? sockets.map((path) => `unix://${path}`).find(isThere)
  if (address === undefined || !(await answers(address))) return undefined
  process.env.DOCKER_HOST = address
  // Loaded lazily, because it is large.
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers')
  const client = await getContainerRuntimeClient()
  // The outer test run removes the containers.
  const given = process.env.KEYLEDGER_TEST_CONTAINERS
  const run = given || randomBytes(8).toString('hex')
  const close = given ? async () => undefined : startRemover(run)
  return {
    client,
    labels: { [label]: run },
    async has(image) {
      const isHere = () => settles(client.container.dockerode.getImage(image).inspect())
      if (await isHere()) return true
      // Some engines end a failed pull as if it had succeeded.
      const pulling = settles(client.image.pull(ImageName.fromString(image)))
      await Promise.race([pulling, sleep(60_000, undefined, { ref: false })])
      return isHere()
    },
    close,
  }
}

/** The container engine of a test run that needs one. @throws Error without one */
export async function engineOfRun(): Promise<Engine> {
  const engine = await openEngine()
  if (!engine) throw new Error('no container engine answers: start one, or name it in DOCKER_HOST')
  return engine
}

/** The label whose value names a test run. */
export const label = 'keyledger.test-run'

const settles = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  )

const isThere = (address: string): boolean => existsSync(address.slice('unix://'.length))

function answers(address: string): Promise<boolean> {
  const { protocol, pathname, hostname, port } = new URL(address)
  const where = protocol === 'unix:' ? { socketPath: pathname } : { host: hostname, port: port || 2375 }
  return new Promise((resolve) => {
    const asked = request({ ...where, path: '/_ping', timeout: 2000 }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asked.on('timeout', () => asked.destroy()).on('error', () => resolve(false))
    asked.end()
  })
}

/** A process that removes everything of a test run, on request or when the process of the test run ends. */
function startRemover(run: string): () => Promise<void> {
  const script = fileURLToPath(new URL('container-remover.ts', import.meta.url))
  const remover = spawn(process.execPath, [script, run], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  remover.unref()
  return async () => {
    remover.ref()
    const exited = once(remover, 'exit')
    remover.stdin.end()
    await exited
  }
}
