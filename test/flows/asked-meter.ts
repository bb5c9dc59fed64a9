import { z } from 'zod'
import { amountOf, amountText } from '../../src/domain/meters/amount.ts'
import type { Asked } from '../meters/history.ts'
import { type Answer, type Client, type Minted, productId } from './vendor.ts'

const Amount = z.string().transform(amountOf)
const Use = z.object({ allowed: z.boolean(), remaining: Amount, overage: Amount })
const Hold = z.object({ hold_id: z.string().nullable(), remaining: Amount })
const Meters = z.object({ meters: z.tuple([z.object({ used: Amount, remaining: Amount })]) })
const Lines = z.object({ items: z.array(z.object({ kind: z.string(), key: z.string().nullable() })) })

/** The meter `calls` of a license, asked by requests. @param send gets an answer, however often it has to ask */
export function askedOf(send: Client['send'], { licenseId, licenseKey }: Minted): Asked {
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
