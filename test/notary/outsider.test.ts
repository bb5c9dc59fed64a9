/**
 * Guarantee: the commands with which an outsider checks the log, as the documentation has them, work against a running server and fail
 * once its past was changed.
 */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRawLog } from '../../src/ledger/raw/log.ts'
import { followLog } from '../../src/notary/notary.ts'
import { openSigner, readNotaryLog } from '../../src/notary/signing-log.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { temporaryDirectory } from '../harness/ledger.ts'
import { startNotary, testCause, testOrigin } from '../harness/notary.ts'
import { makeProduct, mint } from '../http/samples.ts'

const repository = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** The block below a heading of the page. */
function commands(): string {
  const page = readFileSync(join(repository, 'docs/concepts/provable-history.md'), 'utf8')
  const block = /## Check it yourself[\s\S]*?```sh\n([\s\S]*?)```/.exec(page)?.[1]
  if (block === undefined) throw new Error('the page has no commands')
  return block
}

let api: TestApi
let directory: string
let environment: Record<string, string>
beforeAll(async () => {
  api = await openTestApi()
  directory = temporaryDirectory()
  const { token } = await makeTenant(api.ledger)
  await makeProduct(api.ask, token, 'editor')
  const { id } = await mint(api.ask, token, 'editor')
  const notary = startNotary(api.ledger)
  await notary.upToDate()
  await notary.stop()
  const { keys } = await readNotaryLog(api.ledger.ports)
  const bin = join(directory, 'bin')
  mkdirSync(bin)
  const program = join(repository, 'src/cli/keyledger.ts')
  writeFileSync(join(bin, 'keyledger'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`)
  chmodSync(join(bin, 'keyledger'), 0o755)
  environment = {
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    HOME: directory,
    SERVER: await api.app.listen({ port: 0, host: '127.0.0.1' }),
    LICENSE: id,
    TOKEN: token,
    KEY: keys[0] ?? '',
  }
})
afterAll(async () => {
  await api.close()
  rmSync(directory, { recursive: true, force: true })
})

const shell = (script: string) => run('sh', ['-e', '-c', script], { cwd: directory, env: environment })

test('each of them proves what it says', async () => {
  expect(commands().trim().split('\n')).toHaveLength(5)
  const { stdout } = await shell(commands())
  expect(stdout.match(/^Proved/gm)).toHaveLength(3)
  expect(stdout).toContain(`license-${environment.LICENSE ?? ''}, revision 0`)
})

test('with the checkpoint that was kept, a rewritten past is found', async () => {
  const [fourth = ''] = commands()
    .split('\n')
    .filter((line) => line.includes('--checkpoint kept-checkpoint'))
  await expect(shell(fourth)).resolves.toMatchObject({ stdout: expect.stringContaining('Proved') as string })
  await rewrite()
  await expect(shell(fourth)).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      'NOT PROVED: The log of 8 events does not begin with the 6 events',
    ) as string,
  })
})

/** Signs the log again with the true key, as its owner could: with one event changed, and another at the end. */
async function rewrite(): Promise<void> {
  const { db, ports, eventStoreUrl } = api.ledger
  await makeTenant(api.ledger)
  await db.query('truncate notary.tree, notary.tiles, notary.checkpoint, notary.checkpoints')
  const log = openRawLog(eventStoreUrl)
  const forged = {
    head: log.head,
    async *pages(after: bigint | undefined) {
      for await (const { events, through } of log.pages(after))
        yield {
          events: events.map((event, at) => (at === 1 ? { ...event, type: 'Forged' } : event)),
          through,
        }
    },
  }
  const signer = await openSigner(ports, testOrigin, testCause())
  const stopping = new AbortController()
  const onCheckpoint = () => stopping.abort()
  const options = { db, log: forged, ledger: ports.ledger, signer, now: () => new Date(), onCheckpoint }
  // It ends at the event that names its key, and reads on.
  while (!stopping.signal.aborted) await followLog(options, stopping.signal)
  await log.close()
}
