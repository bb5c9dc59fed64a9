/**
 * `npm run test:containers`: runs every test that uses a store on stores in containers, and the tests of the image
 * and of compose.yaml. Further arguments filter tests, as with vitest.
 *
 * Where the image of the event store is not available, the embedded one replaces it, in its own processes.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { images, label, openEngine } from '../harness/container-engine.ts'
import { letTestsIn, startNatsContainer, startPostgresContainer } from '../harness/containers.ts'
import { freePort } from '../harness/process.ts'

/** Test files that import one of these use a store. */
const storeFiles = [
  'test/harness/database.ts',
  'test/harness/event-store.ts',
  'test/harness/nats-server.ts',
  'test/harness/container-engine.ts',
]

async function main(words: readonly string[]): Promise<number> {
  const engine = await openEngine()
  if (!engine) return fail('No container engine answers: start one, or name it in DOCKER_HOST.')
  try {
    for (const image of [images.postgres, images.nats]) {
      if (!(await engine.has(image))) return fail(`The image ${image} is not here and cannot be pulled.`)
    }
    const eventStore = (await engine.has(images.eventStore)) ? 'container' : 'process'
    if (eventStore === 'process') {
      say(`The image ${images.eventStore} cannot be pulled: the embedded event store stands in for it.`)
    }
    const postgres = await startPostgresContainer(engine, await freePort())
    const nats = await startNatsContainer(engine, await freePort())
    return await vitest(words, {
      KEYLEDGER_TEST_CONTAINERS: engine.labels[label] ?? '',
      KEYLEDGER_TEST_DATABASE_URL: await letTestsIn(postgres.url),
      KEYLEDGER_TEST_NATS_URL: nats.url,
      KEYLEDGER_TEST_EVENTSTORE: eventStore,
    })
  } finally {
    await engine.close()
  }
}

async function vitest(words: readonly string[], environment: Record<string, string>): Promise<number> {
  const program = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
  const chosen = words.length > 0 ? ['run', ...words] : ['related', '--run', ...storeFiles]
  const running = spawn(process.execPath, [program, ...chosen], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  const [code] = (await once(running, 'exit')) as [number | null]
  return code ?? 1
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

function fail(line: string): number {
  say(line)
  return 1
}

// The terminal sends Ctrl-C to the tests, too; this process waits for their end and cleans up.
process.on('SIGINT', () => undefined)
process.exitCode = await main(process.argv.slice(2))
