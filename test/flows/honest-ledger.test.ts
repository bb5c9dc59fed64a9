/**
 * Guarantee: nothing that an honest operator does to a ledger makes the audit raise an alarm: kills, erasures, rebuilds, a
 * backup that is restored and continued, and a move to another event store. The notary goes on from what was published.
 */
import { cpSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost, type Environment, type Server } from '../harness/process.ts'
import { client, createVendor } from './vendor.ts'

const host = createHost()
const Report = z.looseObject({
  events: z.int(),
  size: z.int(),
  kept: z.array(z.int()),
  verified: z.boolean(),
  problems: z.array(z.unknown()),
})

test('no false alarm over the life of a ledger', async () => {
  const stores = await host.stores()
  const checkpoints = host.path('checkpoints')
  const environment: Environment = { ...stores.environment, KEYLEDGER_NOTARY_KEEP: checkpoints }
  const token = await createVendor(environment)
  const kept: string[] = []
  const sell = async ({ address }: Server, licenses: number) => {
    const vendor = client(address, token)
    for (let left = licenses; left > 0; left -= 1) {
      const { licenseKey } = await vendor.mint({ email: `ada-${left}@example.com` })
      await vendor.activate(licenseKey, 'laptop')
    }
  }
  const keep = async (server: Server) => {
    const note = await coveringCheckpoint(server)
    const file = host.path('checkpoint')
    writeFileSync(file, note)
    kept.push(file)
  }
  const audit = (of: Environment) =>
    host.json(Report, ['audit', 'verify', ...kept.flatMap((file) => ['--checkpoint', file])], of)
  const expectClean = async (of: Environment) => {
    const report = await audit(of)
    expect(report).toMatchObject({ events: report.size, verified: true, problems: [] })
    expect(report.kept).toHaveLength(kept.length)
  }

  const first = await host.serve(environment)
  await client(first.address, token).createProduct(2)
  await sell(first, 3)
  await keep(first)
  await sell(first, 2)
  await first.end('SIGKILL')
  const second = await host.serve(environment)
  await sell(second, 1)
  await keep(second)
  await expectClean(environment)

  const erased = await host.run(['subject', 'erase', 'ada-1@example.com', '--tenant', 'acme'], environment)
  expect(erased.code).toBe(0)
  expect((await host.run(['projections', 'rebuild'], environment)).code).toBe(0)
  await keep(second)
  await expectClean(environment)
  await second.end('SIGTERM')

  // A backup of everything, restored into a directory of its own.
  const backup = host.path('backup')
  expect((await host.run(['backup', backup], environment)).code).toBe(0)
  const { KEYLEDGER_MASTER_KEY = '' } = environment
  const restored = {
    KEYLEDGER_DATA_DIR: host.path('restored'),
    KEYLEDGER_MASTER_KEY,
    KEYLEDGER_NOTARY_KEEP: host.path('checkpoints'),
  }
  cpSync(checkpoints, restored.KEYLEDGER_NOTARY_KEEP, { recursive: true })
  expect(await host.run(['restore', backup], restored)).toMatchObject({ code: 0 })
  expect(await host.run(['projections', 'rebuild'], restored)).toMatchObject({ code: 0 })
  const resume = ['notary', 'resume', '--checkpoint', kept.at(-1) ?? '']
  const unconfirmed = await host.run(resume, restored)
  expect(unconfirmed.code).toBe(1)
  const [confirmation = ''] = /--abandon-after \d+/.exec(unconfirmed.stderr) ?? []
  expect(await host.run([...resume, ...confirmation.split(' ')], restored)).toMatchObject({
    code: 0,
    stderr: '',
  })
  const third = await host.serve(restored)
  await sell(third, 2)
  await keep(third)
  await expectClean(restored)
  await third.end('SIGTERM')

  // The log on another event store, with the database that has signed it.
  const moved = host.path('moved')
  expect(await host.run(['copy', '--to', moved, '--verify'], environment)).toMatchObject({ code: 0 })
  kept.pop()
  const elsewhere = host.start(
    ['node', eventStoreProgram, '--directory', `${moved}/eventstore`, '--port', '0'],
    {},
  )
  await expect.poll(() => elsewhere.stdout()).toContain('\n')
  const { url } = z.object({ url: z.string() }).parse(JSON.parse(elsewhere.stdout().split('\n')[0] ?? ''))
  const there = { ...environment, KEYLEDGER_EVENTSTORE_URL: url }
  expect(await host.run(['projections', 'rebuild'], there)).toMatchObject({ code: 0 })
  const fourth = await host.serve(there)
  await sell(fourth, 2)
  await keep(fourth)
  await expectClean(there)
  await fourth.end('SIGTERM')
})

const eventStoreProgram = new URL('../../infra/local/eventstore/main.ts', import.meta.url).pathname

/** Waits until the published checkpoint stays the same, so that it covers all events. */
async function coveringCheckpoint({ address }: Server): Promise<string> {
  const read = async () => {
    const response = await fetch(`${address}/v1/transparency/checkpoint`)
    return response.status === 200 ? await response.text() : ''
  }
  let last = ''
  await expect
    .poll(
      async () => {
        const before = last
        last = await read()
        return last !== '' && last === before
      },
      { interval: 700 },
    )
    .toBe(true)
  return last
}
