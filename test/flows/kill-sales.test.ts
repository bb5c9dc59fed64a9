// Guarantee: whichever processes are killed and whichever store hangs, at any time: every paid sale has exactly one
// license, in the state that all its notifications require in any order; a provider whose notification was not
// accepted gets an error status; and every event for the vendor's webhook arrives, each under one id, numbered
// without gaps.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findLicense } from '../../projections/licenses/queries.ts'
import { verify } from '../../projections/runner/verify.ts'
import { listOpenSales } from '../../projections/sales/queries.ts'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import { publicNameOf } from '../../src/domain/deliveries/outbox.ts'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { createHost } from '../harness/process.ts'
import { platformWebhookSecret } from '../harness/providers.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { anyTold, foundOf, toldAgain, wantedOf } from '../sales/model.ts'
import { type Fleet, type Part, parts, startFleet } from './fleet.ts'
import { readLog } from './operator.ts'
import { createProvider, type Provider } from './provider.ts'
import { openSeller, type Seller, tenantId } from './seller.ts'

const host = createHost()
/** `KEYLEDGER_TEST_SALES=1000` for the long run. */
const manySales = wholeVariable('KEYLEDGER_TEST_SALES', 12)
const kills = Math.max(parts.length, Math.round(manySales / 10))
/** Later than a month from now, whenever that is. */
const paidUntil = { second: '2100-02-01T00:00:00.000Z', third: '2100-03-01T00:00:00.000Z' }

let seller: Seller
let fleet: Fleet
beforeAll(async () => {
  const environment = {
    KEYLEDGER_DATA_DIR: host.path('data'),
    KEYLEDGER_STRIPE_WEBHOOK_SECRET: platformWebhookSecret,
    KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true',
  }
  seller = await openSeller(environment)
  fleet = await startFleet(host, environment)
})
afterAll(async () => {
  await fleet.stop()
  await seller.close()
})

test(`${manySales} sales get their licenses while each store is paused and processes are killed ${kills} times`, {
  timeout: testMs + manySales * 2000,
}, async () => {
  const purchases = Array.from({ length: manySales }, (_, number) => anyTold(`w${number}`, paidUntil))
  const provider = createProvider(fleet.address, seller.account, toldAgain(purchases.flat()))
  const telling = provider.tellAll()
  const share = provider.left() / (kills + 5)
  await provider.takenIn(share)
  await awayInTurn(provider, share)
  await killInTurn(provider, share)
  provider.hurry()
  await telling
  expect(provider.wrong).toStrictEqual([])

  await expect.poll(leftToDo, { interval: 500 }).toStrictEqual([0, 0, 0])
  const log = await readLog(seller.ports.ledger)
  for (const notifications of purchases) await expectLicense(notifications, log)
  expectDeliveries(log)
  const { differences } = await verify(seller.db, seller.ports.ledger, () => undefined)
  expect(differences).toStrictEqual([])
})

/** Stops each store in turn: notifications meanwhile must be repeated, while NATS holds nothing that they need. */
async function awayInTurn(provider: Provider, share: number): Promise<void> {
  for (const part of ['event store', 'Postgres', 'NATS'] as const) {
    fleet.halt(part)
    await (part === 'NATS' ? provider.takenIn(share) : provider.turnedAway(share))
    fleet.resume(part)
  }
}

/** Kills each part in random order while notifications arrive, and finally all of them together. */
async function killInTurn(provider: Provider, share: number): Promise<void> {
  const killed = async (some: readonly Part[]) => {
    const taking = provider.takenIn(share)
    // Each takes a few milliseconds.
    await sleep(Math.random() * share * 8)
    await Promise.all(some.map((part) => fleet.kill(part)))
    await taking
  }
  for (let left = kills; left > 0; left -= parts.length) {
    const order = parts.map((part) => ({ part, at: Math.random() })).sort((a, b) => a.at - b.at)
    for (const { part } of order.slice(0, left)) await killed([part])
  }
  await killed(parts)
}

/** Unfinished sales, events without a scheduled delivery, and deliveries to attempt. */
async function leftToDo(): Promise<number[]> {
  await seller.readModels.catchUp()
  const open = await listOpenSales(
    seller.db,
    { from: 'infinity', until: 'infinity' },
    { except: [], most: 100 },
  )
  const { rows } = await seller.db.query<{ owed: number; pending: number }>(
    `select (select count(*)::int from owed_deliveries) as owed,
       (select count(*)::int from deliveries where status = 'pending') as pending`,
  )
  return [open.length, rows[0]?.owed ?? Number.NaN, rows[0]?.pending ?? Number.NaN]
}

async function expectLicense(told: readonly PaymentNotification[], log: readonly LogEntry[]): Promise<void> {
  const saleId = told.flatMap((one) => (one.type === 'sold' ? one.saleId : []))[0]
  const minted = log.flatMap((entry) =>
    entry.readable && entry.event.type === 'LicenseMinted' && entry.event.data.saleId === saleId
      ? entry.event.data.licenseId
      : [],
  )
  expect([saleId, minted.length]).toStrictEqual([saleId, 1])
  const { license } = (await findLicense(seller.db, tenantId, minted[0] ?? '')) ?? {}
  if (!license) throw new Error(`the license of ${saleId} is not shown`)
  expect(foundOf(told, license)).toStrictEqual(wantedOf(told, license.createdAt))
}

/**
 * Checks that the deliveries match the log: the events of each license in order, each under one id, with its key.
 */
function expectDeliveries(log: readonly LogEntry[]): void {
  const { delivered, refused } = seller.receiver
  expect(refused).toStrictEqual([])
  const come = Map.groupBy(delivered, (one) => licenseStream(one.license_id))
  for (const [stream, entries] of Map.groupBy(log, (entry) => entry.stream)) {
    const owed = entries.flatMap((entry) => {
      if (!entry.readable || entry.category !== 'license') return []
      const keyHash = entry.event.type === 'LicenseMinted' ? entry.event.data.keyHash : undefined
      const name = publicNameOf(entry.event)
      return name === undefined ? [] : { name, keyHash }
    })
    const got = [...Map.groupBy(come.get(stream) ?? [], ({ sequence }) => sequence)]
      .sort(([one], [other]) => one - other)
      .map(([sequence, times]) => ({
        sequence,
        ids: new Set(times.map(({ id }) => id)).size,
        names: [...new Set(times.map(({ event }) => event))],
        keys: [...new Set(times.flatMap(({ key }) => (key ? keyHashOf(key) : [])))],
      }))
    expect({ stream, got }).toStrictEqual({
      stream,
      got: owed.map(({ name, keyHash }, index) => {
        return { sequence: index + 1, ids: 1, names: [name], keys: keyHash === undefined ? [] : [keyHash] }
      }),
    })
    come.delete(stream)
  }
  expect([...come.keys()]).toStrictEqual([])
}
