/**
 * Guarantee: after a restore, `keyledger notary resume` goes on only from the newest checkpoint that a witness or a published copy
 * knows, and only when the operator confirms what would be abandoned; the witness then signs what follows.
 */
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { exitCode } from '../../src/terminal/exit-codes.ts'
import { parseCheckpoint } from '../../src/transparency/checkpoint.ts'
import { parseNote } from '../../src/transparency/note/note.ts'
import { createHost, type Environment, type Finished, freePort, type Server } from '../harness/process.ts'
import { startWitness } from './witness.ts'

const host = createHost()
const Log = z.object({ keys: z.array(z.string()) })
const signed = '— example.com/w1 '

const sizeOf = (checkpoint: string): number => parseCheckpoint(parseNote(checkpoint).text).size

/** Waits for a checkpoint of more events than `after`, with the signature of the witness if one is asked for. */
async function checkpointOf({ address }: Server, after: number, signature = ''): Promise<string> {
  let checkpoint = ''
  const read = async () => {
    const response = await fetch(`${address}/v1/transparency/checkpoint`)
    checkpoint = response.status === 200 ? await response.text() : ''
    return checkpoint !== '' && sizeOf(checkpoint) > after && checkpoint.includes(signature)
  }
  await expect.poll(read).toBe(true)
  return checkpoint
}

function fileWith(checkpoint: string): string {
  const file = host.path('checkpoint')
  writeFileSync(file, checkpoint)
  return file
}

test('the log goes on from its newest checkpoint and no other', async () => {
  const { environment: stores } = await host.stores()
  const done = async (args: readonly string[], of: Environment) =>
    expect(await host.run(args, of)).toMatchObject({ code: 0 })
  await done(['init', '--tenant', 'acme'], stores)
  const first = await host.serve(stores)
  await checkpointOf(first, 0)
  const log: unknown = await (await fetch(`${first.address}/v1/transparency/log`)).json()
  await first.end('SIGTERM')
  const witness = await startWitness(host, Log.parse(log).keys[0] ?? '')
  const witnesses = { KEYLEDGER_NOTARY_WITNESSES: `${witness.url} ${witness.key}` }

  const server = await host.serve({ ...stores, ...witnesses })
  const older = await checkpointOf(server, 0, signed)
  await done(['tenant', 'create', 'later', '--name', 'Later'], stores)
  const newest = await checkpointOf(server, sizeOf(older), signed)
  const backup = host.path('backup')
  await done(['backup', backup], stores)

  const { KEYLEDGER_MASTER_KEY = '' } = stores
  const restored: Environment = { KEYLEDGER_DATA_DIR: host.path('restored'), KEYLEDGER_MASTER_KEY }
  await done(['restore', backup], restored)
  const resume = async (checkpoint: string, others: Environment, ...more: string[]): Promise<Finished> => {
    const words = ['notary', 'resume', '--checkpoint', fileWith(checkpoint), ...more]
    const finished = await host.run(words, { ...restored, ...others })
    // A busy machine may not have accepted the connection to Postgres in time.
    return finished.code === exitCode.unavailable ? resume(checkpoint, others, ...more) : finished
  }

  const published = ['--published', server.address]
  expect((await resume(newest, {})).stderr).toContain('nothing says whether a newer checkpoint was signed')
  const newer = `has a newer one of ${String(sizeOf(newest))}`
  for (const refused of [await resume(older, witnesses), await resume(older, {}, ...published)]) {
    expect(refused.stderr).toContain(newer)
    expect(refused.code).toBe(1)
  }
  const silent = await resume(
    newest,
    witnesses,
    '--published',
    `http://localhost:${String(await freePort())}`,
  )
  expect(silent.stderr).toContain('does not say which checkpoint is its last')
  expect(silent.code).toBe(1)

  const confirmation = ['--abandon-after', String(sizeOf(newest))]
  for (const unconfirmed of [
    await resume(newest, witnesses),
    await resume(newest, {}, ...published),
    await resume(newest, witnesses, ...published, '--abandon-after', String(sizeOf(older))),
  ]) {
    expect(unconfirmed.stderr).toContain(confirmation.join(' '))
    expect(unconfirmed.code).toBe(1)
  }
  expect(await resume(newest, witnesses, ...published, ...confirmation)).toMatchObject({
    code: 0,
    stderr: '',
  })
  await server.end('SIGTERM')

  await done(['projections', 'rebuild'], restored)
  const second = await host.serve({ ...restored, ...witnesses })
  await done(['tenant', 'create', 'after', '--name', 'After'], { ...restored, ...witnesses })
  expect(sizeOf(await checkpointOf(second, sizeOf(newest), signed))).toBeGreaterThan(sizeOf(newest))
  await second.end('SIGTERM')
  await witness.running.end('SIGTERM')
})
