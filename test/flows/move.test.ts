// Guarantee: an installation moves to other stores without loss or change: the log is copied while it serves, a
// freeze covers the rest, and everything verifies on the other side. A backup of the copy restores to the same.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { sha256 } from '../../src/credentials/sha256.ts'
import { newToken } from '../../src/credentials/token.ts'
import { fillLicenses, fillTenants, keyOf, productId } from '../bench/fill.ts'
import { createHost, type Environment, hasEnded, program, type Running } from '../harness/process.ts'
import { wholeVariable } from '../harness/variables.ts'
import { client } from './vendor.ts'

const host = createHost()
/** `KEYLEDGER_TEST_MOVE_EVENTS=100000` for the long run. */
const events = wholeVariable('KEYLEDGER_TEST_MOVE_EVENTS', 2000)
/** `KEYLEDGER_TEST_KILLS=100` for the long run: the number of kills of the copy. */
const kills = Math.min(20, wholeVariable('KEYLEDGER_TEST_KILLS', 1))

const Copied = z.object({
  events: z.int(),
  databaseRows: z.int().nullable(),
  verified: z.boolean().nullable(),
})
const Verified = z.object({ events: z.int(), differences: z.array(z.unknown()) })
const Kept = z.object({ events: z.int() })
const Fed = z.object({ items: z.array(z.unknown()), cursor: z.string().nullable() })
const Minted = z.object({ licenseKey: z.string(), license: z.object({ id: z.string() }) })

const timeout = 240_000 + events * 20
test('embedded stores move to an external event store and database while they serve, and back', {
  timeout,
}, async () => {
  const { token, hash } = tokenOf()
  const masterKey = randomBytes(32).toString('base64')
  const source = { KEYLEDGER_DATA_DIR: host.path('source'), KEYLEDGER_MASTER_KEY: masterKey }
  await fillTenants(source.KEYLEDGER_DATA_DIR, 1, hash)
  await fillLicenses(source.KEYLEDGER_DATA_DIR, 0, events / 2)
  const server = await host.serve(source)
  const vendor = client(server.address, token)
  const mint = async () =>
    Minted.parse((await vendor.send('POST', '/v1/licenses', { productId, email: 'ada@example.com' })).body)
  const early = await mint()
  const fed = async (address: string, after: string | null, limit: number) => {
    const query = new URLSearchParams({ limit: String(limit), ...(after !== null && { after }) })
    let body: unknown
    // Beside the copies a server may be too busy for a moment, and then answers 503.
    await expect
      .poll(async () => {
        const answer = await client(address, token).send('GET', `/v1/events?${query}`)
        body = answer.body
        return answer.status === 200 ? null : body
      })
      .toBe(null)
    return Fed.parse(body)
  }
  const { cursor } = await fed(server.address, null, 5)
  const next = await fed(server.address, cursor, 20)

  // While the source serves, the copy is killed and restarted again and again.
  const stores = await host.stores()
  const target = { ...stores.environment, KEYLEDGER_MASTER_KEY: masterKey }
  const copying = ['copy', '--to', stores.eventstoreUrl, '--follow', '--verify', '--json']
  for (let killed = 0; killed < kills; killed++) {
    const copy = host.start(['node', program, ...copying], source)
    await sleep(Math.random() * 2500)
    await copy.end('SIGKILL')
  }
  // A URL with a password is only taken from the environment.
  const toDatabase = { ...source, KEYLEDGER_COPY_DATABASE_TO: stores.databaseUrl }
  const copy = host.start(['node', program, ...copying], toDatabase)
  await minting(copy, mint, 3)
  const late = await mint()

  // After the freeze, the rest is copied, and the copy ends by itself.
  expect((await host.run(['freeze'], source)).code).toBe(0)
  expect(await vendor.send('POST', '/v1/licenses', { productId })).toMatchObject({ status: 503 })
  const { code, stdout, stderr } = await copy.finished
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const copied = Copied.parse(JSON.parse(stdout))
  expect(copied).toMatchObject({ verified: true, databaseRows: expect.any(Number) as number })
  await server.end('SIGTERM')

  const moved = await host.serve(target)
  const asking = client(moved.address, token)
  for (const licenseKey of [early.licenseKey, late.licenseKey, keyOf(1)]) {
    const body = { product_id: productId, license_key: licenseKey }
    expect(await asking.send('POST', '/v1/licenses/validate', body)).toMatchObject({ body: { valid: true } })
  }
  // Sealed in the copied database, under the same master key.
  for (const { license } of [early, late]) {
    const { body } = await asking.send('GET', `/v1/licenses/${license.id}`)
    expect(body).toMatchObject({ license: { email: 'ada@example.com' } })
  }
  expect((await fed(moved.address, cursor, 20)).items).toStrictEqual(next.items)
  const verified = await host.json(Verified, ['projections', 'verify'], target)
  expect(verified).toStrictEqual({ ...verified, differences: [] })
  expect(await restoredFromBackup(target, masterKey)).toBe(verified.events)
  await expectReceipt(asking, early.license.id)
  await moved.end('SIGTERM')

  // From the other stores back into a data directory.
  const back = host.path('back')
  const again = await host.json(Copied, ['copy', '--to', back, '--database-to', back, '--verify'], target)
  expect(again.verified).toBe(true)
  expect(again.events).toBeGreaterThanOrEqual(copied.events)
  const embedded = { KEYLEDGER_DATA_DIR: back, KEYLEDGER_MASTER_KEY: masterKey }
  const returned = await host.json(Verified, ['projections', 'verify'], embedded)
  expect(returned).toStrictEqual({ ...returned, differences: [] })
  // Nothing is recorded since, so the last checkpoint is the one that was copied.
  const home = await host.serve(embedded)
  await expectReceipt(client(home.address, token), early.license.id)
  await home.end('SIGTERM')
})

/** The notary computes the tree of a copied log in the background. */
const expectReceipt = (asking: ReturnType<typeof client>, license: string) =>
  expect.poll(async () => (await asking.send('GET', `/v1/licenses/${license}/receipt`)).status).toBe(200)

/**
 * Backs up the running installation, verifies the file, and restores it into an empty data directory.
 * @returns the number of events with which the read models there were verified
 */
async function restoredFromBackup(served: Environment, masterKey: string): Promise<number> {
  const file = host.path('backup')
  const made = await host.json(Kept, ['backup', '--full-speed', file], served)
  const checked = await host.json(Verified, ['backup', 'verify', file], served)
  expect(checked).toStrictEqual({ events: made.events, differences: [] })
  const elsewhere = { KEYLEDGER_DATA_DIR: host.path('elsewhere'), KEYLEDGER_MASTER_KEY: masterKey }
  expect(await host.json(Kept, ['restore', file], elsewhere)).toStrictEqual(made)
  const verified = await host.json(Verified, ['projections', 'verify'], elsewhere)
  expect(verified.differences).toStrictEqual([])
  return verified.events
}

test('a copy that is not possible fails with one sentence', async () => {
  const [source, other] = [await host.stores(), await host.stores()]
  await host.run(['init', '--tenant', 'acme'], source.environment)
  await host.run(['init', '--tenant', 'other'], other.environment)
  const overOther = { KEYLEDGER_COPY_DATABASE_TO: other.databaseUrl }
  const refusals: [args: string[], code: number, sentence: string, environment?: Environment][] = [
    [[], 2, 'The target is missing'],
    [['--to', 'esdb://admin:changeit@localhost:2113'], 2, 'Put it into KEYLEDGER_COPY_TO.'],
    [['--to', 'https://localhost:2113'], 2, 'https:// is not a URL of the event store'],
    [['--to', other.eventstoreUrl], 1, 'The target is not a copy of the source'],
    [['--to', join(host.directory, 'fresh')], 1, 'a copy never overwrites data', overOther],
  ]
  for (const [args, code, sentence, environment] of refusals) {
    const refused = await host.run(['copy', ...args], { ...source.environment, ...environment })
    expect(refused).toMatchObject({ code, stderr: expect.stringContaining(sentence) as string })
    expect(refused.stderr).not.toMatch(/\n\s+at /)
  }
})

/** Mints licenses until the copy has caught up with everything from before its start, and some more. */
async function minting(copy: Running, mint: () => Promise<unknown>, times: number): Promise<void> {
  for (let minted = 0; minted < times; minted++) {
    if (hasEnded(copy)) throw new Error(`the copy ended before the freeze: ${copy.stderr()}`)
    await mint()
  }
}

function tokenOf(): { token: string; hash: string } {
  const { token } = newToken('pat', randomBytes)
  return { token, hash: sha256(token) }
}
