// An operator of the ledger in its own process: reads a command per line, and answers each with a line. It connects
// to the stores directly, not through the proxies.
import { openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { listOpenSales } from '../../projections/sales/queries.ts'
import { createLog } from '../../src/app/log.ts'
import { openStores, type Stores } from '../../src/app/stores.ts'
import { askRedelivery } from '../../src/commands/deliveries.ts'
import { changeIntegration } from '../../src/commands/integrations/integrations.ts'
import type { Origin } from '../../src/commands/origin.ts'
import { createProduct } from '../../src/commands/products.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { removeWebhook, setWebhook } from '../../src/commands/webhooks.ts'
import { parseConfig } from '../../src/config.ts'
import { newId } from '../../src/credentials/id.ts'
import { publicNameOf } from '../../src/domain/deliveries/outbox.ts'
import type { LicenseEvent } from '../../src/domain/licenses/events.ts'
import { defaultKeyType } from '../../src/domain/products/key-type.ts'
import { combinableScopes } from '../../src/domain/tokens/events.ts'
import { defaultEvents, type WebhookEventName } from '../../src/domain/webhooks/events.ts'
import { approve } from '../../src/gate/approvals.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import type { Ports } from '../../src/ports.ts'
import {
  account,
  changer,
  deviceLimit,
  type Input,
  type LogLine,
  type OperatorCommand,
  type Output,
  operatorCommands,
  productId,
  seller,
} from './operator-commands.ts'

const Request = z.object({ id: z.int(), command: z.string(), input: z.unknown() })

type Work = { [C in OperatorCommand]: (stores: Stores, input: Input<C>) => Promise<Output<C>> }

const origin = (): Origin => ({ requestId: newId('req'), actor: 'operator:chaos' })

const work: Work = {
  setUp: ({ ports }, { receiver }) => setUp(ports, receiver),
  async approve({ ports }, { confirmationId }) {
    await approve(ports, null, confirmationId, origin())
    return null
  },
  async setWebhook({ ports }, { tenantId, url }) {
    const from = origin()
    await setWebhook(ports, tenantId, { url, events: undefined, rotateSecret: false }, from.requestId, from)
    return null
  },
  async removeWebhook({ ports }, { tenantId }) {
    const from = origin()
    await removeWebhook(ports, tenantId, from.requestId, from)
    return null
  },
  hurry,
  async readLog({ ports }, { file }) {
    await writeLog(ports.ledger, file)
    return null
  },
}

async function setUp(
  ports: Ports<'execute' | 'findProduct' | 'now' | 'planCapacity' | 'randomBytes' | 'secrets'>,
  receiver: string,
): Promise<Output<'setUp'>> {
  const plan = 'unlimited'
  const tokens: Record<string, string> = {}
  for (const tenantId of [seller, changer]) {
    await createTenant(ports, { tenantId, name: tenantId, plan }, origin())
    const keyTypes = [{ ...defaultKeyType, deviceLimit }] as const
    const product = { tenantId, plan, productId, name: 'Editor', keyPrefix: 'ED', keyTypes } as const
    await createProduct(ports, { ...product, settings: {} }, origin())
    const token = { tenantId, name: 'chaos', scopes: combinableScopes, expiresAt: null }
    tokens[tenantId] = (await createToken(ports, token, origin())).token
  }
  const change = (type: 'start' | 'finish') =>
    changeIntegration(ports, seller, 'stripe', origin(), (at) =>
      type === 'start'
        ? { type: 'StartOnboarding', tenantId: seller, accountId: account, at }
        : { type: 'FinishOnboarding', accountId: account, at },
    )
  await change('start')
  await change('finish')
  const webhook = { url: `${receiver}/${seller}`, events: undefined, rotateSecret: false }
  const { secret = '' } = await setWebhook(ports, seller, webhook, 'op_chaos', origin())
  return { tokens, secret }
}

async function hurry({ ports, readModels }: Stores): Promise<Output<'hurry'>> {
  const { db } = ports
  await readModels.catchUp()
  const waiting = await db.query<{ delivery_id: string; tenant_id: string }>(
    `select delivery_id, tenant_id from deliveries
     where status = 'pending' and next_attempt_at > now() + interval '2 seconds' limit 200`,
  )
  for (const { delivery_id, tenant_id } of waiting.rows) {
    await askRedelivery(ports, tenant_id, delivery_id, origin())
  }
  const openSales = (
    await listOpenSales(db, { from: 'infinity', until: 'infinity' }, { except: [], most: 100 })
  ).length
  const { rows } = await db.query<{ owed: number; pending: number; unexecuted: number }>(
    `select (select count(*)::int from owed_deliveries) as owed,
       (select count(*)::int from deliveries where status = 'pending') as pending,
       (select count(*)::int from confirmations where status = 'consumed' and state->>'executedAt' is null)
         as unexecuted`,
  )
  const [counted] = rows
  if (!counted) throw new Error('nothing was counted')
  return { openSales, ...counted }
}

/** The name under which an event goes to an endpoint that names none. */
function deliveredAs(event: LicenseEvent): WebhookEventName | null {
  const publicName = publicNameOf(event)
  return defaultEvents.find((name) => name === publicName) ?? null
}

async function writeLog(ledger: Ledger, file: string): Promise<void> {
  const opened = openSync(file, 'w', 0o600)
  for (let after: bigint | undefined; ; ) {
    const page = await ledger.readPage(after, 1000)
    if (page.through === undefined) return
    for (const entry of page.entries) {
      if (!entry.readable) throw new Error(`${entry.stream} is unreadable: ${entry.problem}`)
      const { id, stream, revision, position, event } = entry
      const line: LogLine = {
        id,
        stream,
        revision,
        position: String(position),
        type: event.type,
        requestId: entry.metadata.requestId,
        data: event.data,
        publicName: entry.category === 'license' ? deliveredAs(entry.event) : null,
      }
      writeSync(opened, `${JSON.stringify(line)}\n`)
    }
    after = page.through
  }
}

async function answer<C extends OperatorCommand>(command: C, input: unknown): Promise<Output<C>> {
  const parsed = operatorCommands[command].input.parse(input) as Input<C>
  stores ??= await openStores(parseConfig(process.env), createLog('silent'))
  return work[command](stores, parsed)
}

let stores: Stores | undefined

for await (const line of createInterface({ input: process.stdin })) {
  const { id, command, input } = Request.parse(JSON.parse(line))
  let reply: object
  try {
    reply = { id, output: await answer(command as OperatorCommand, input) }
  } catch (error) {
    reply = { id, failed: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
    // A store may have ended, so the next command connects again.
    await stores?.close().catch(() => undefined)
    stores = undefined
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}
await stores?.close()
