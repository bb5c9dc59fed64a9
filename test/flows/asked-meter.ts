import { expect } from 'vitest'
import { z } from 'zod'
import { amountOf, amountText } from '../../src/domain/meters/amount.ts'
import { type Keyset, licenseKeyHash, verifyLease2 } from '../../src/sdk/javascript/index.ts'
import type { Asked } from '../meters/history.ts'
import { type Answer, type Client, type Minted, productId, tenantId } from './vendor.ts'

const Amount = z.string().transform(amountOf)
const Use = z.object({ allowed: z.boolean(), remaining: Amount, overage: Amount })
const Hold = z.object({ hold_id: z.string().nullable(), remaining: Amount })
const Meters = z.object({ meters: z.tuple([z.object({ used: Amount, remaining: Amount })]) })
const Seat = z.object({ instance_id: z.string() })
const Allowed = z.union([
  z.object({ granted: z.literal(false), reason: z.string() }),
  z.object({
    granted: z.literal(true),
    allowance: z.object({ id: z.string(), ends_at: z.int() }),
    lease2: z.string(),
    remaining: Amount,
  }),
])
const Reported = z.object({ uses: z.array(z.object({ allowed: z.boolean(), remaining: Amount })) })
const Lines = z.object({ items: z.array(z.object({ kind: z.string(), key: z.string().nullable() })) })

/**
 * The meter `calls` of a license, asked by requests, and by a device of the license.
 * @param send gets an answer, however often it has to ask; also for requests of apps
 * @param keyset what verifies the leases of the device
 */
export function askedOf(
  send: Client['send'],
  { licenseId, licenseKey }: Minted,
  keyset: () => Promise<Keyset>,
): Asked {
  const place = { license_key: licenseKey, product_id: productId, meter: 'calls' }
  /** @returns undefined for a refusal with the status */
  async function ask<T>(path: string, body: object, schema: z.ZodType<T>, refused: number) {
    const answer = await send('POST', path, body)
    return answer.status === refused ? undefined : schema.parse(good(answer))
  }
  const keyed = ({ key, amount }: { key: string; amount: bigint }) => ({
    amount: amountText(amount),
    idempotency_key: key,
  })
  const app = async (call: string, body: object) =>
    good(await send('POST', `/${tenantId}/${productId}/${call}`, { license_key: licenseKey, ...body }))
  let seat: Promise<z.infer<typeof Seat>> | undefined
  const device = () =>
    (seat ??= app('activate', { instance_name: 'Laptop', machine_hash: 'the-hash-of-a-laptop' }).then(
      (body) => Seat.parse(body),
    ))
  let batch = 0
  return {
    use: (_, use) => ask('/v1/licenses/consume', { ...place, ...keyed(use) }, Use, 422),
    async hold(_, hold) {
      const body = { ...place, ...keyed(hold), seconds: 86_400 }
      const { hold_id, remaining } = Hold.parse(good(await send('POST', '/v1/licenses/hold', body)))
      return { holdId: hold_id, remaining }
    },
    async commit(_, holdId, amount) {
      const body = { hold_id: holdId, amount: amountText(amount) }
      return (await ask('/v1/licenses/hold/commit', body, z.unknown(), 409)) !== undefined
    },
    async release(_, holdId) {
      good(await send('POST', '/v1/licenses/hold/release', { hold_id: holdId }))
    },
    async credit(_, { key, amount }) {
      const body = { meter: 'calls', amount: amountText(amount), idempotencyKey: key }
      good(await send('POST', `/v1/licenses/${licenseId}/credits`, body))
    },
    async correct(_, { key, amount }) {
      const body = { amount: amountText(amount), reason: 'counted twice', idempotencyKey: key }
      const path = `/v1/licenses/${licenseId}/meters/calls/corrections`
      return (await ask(path, body, z.unknown(), 422)) !== undefined
    },
    async allow(_, wanted) {
      const { instance_id } = await device()
      const body = { instance_id, meter: 'calls', ...keyed(wanted), seconds: 86_400 }
      const answer = Allowed.parse(await app('allowance', body))
      if (!answer.granted) return { reason: answer.reason }
      const { id, ends_at: endsAt } = answer.allowance
      const expected = {
        tenantId,
        productId,
        licenseKeyHash: licenseKeyHash(licenseKey),
        instanceId: instance_id,
      }
      const signed = { id, meter: 'calls', amount: amountText(wanted.amount), endsAt }
      expect(verifyLease2(answer.lease2, expected, await keyset(), Date.now() / 1000)).toMatchObject({
        ok: true,
        lease: { allowance: signed },
      })
      return { allowanceId: id, remaining: answer.remaining }
    },
    async report(_, { allowanceId, ...use }) {
      const uses = [{ meter: 'calls', ...keyed(use), allowance: allowanceId }]
      const [answer] = Reported.parse(await app('uses', { ...(await device()), batch: ++batch, uses })).uses
      if (!answer) throw new Error('no answer to a use')
      return answer
    },
    async giveBack(_, allowanceId) {
      await app('uses', { ...(await device()), batch: ++batch, uses: [], returned: [allowanceId] })
    },
    async standing() {
      const shown = good(await send('GET', `/v1/licenses/${licenseId}/meters`))
      const [{ used, remaining }] = Meters.parse(shown).meters
      const path = `/v1/licenses/${licenseId}/meters/calls/uses?limit=100`
      const { items } = Lines.parse(good(await send('GET', path)))
      return { used, remaining, keys: items.flatMap(({ kind, key }) => (kind === 'use' ? [key] : [])) }
    },
  }
}

function good({ status, body }: Answer): unknown {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}
