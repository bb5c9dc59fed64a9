// The baselines of deliveries: signed posts to the sink, 256 at a time. With a store, each is also recorded by one
// append of a smaller event than the dispatcher's: the upper bound for any dispatcher that records its attempts.
import { randomUUID } from 'node:crypto'
import { jsonEvent, NO_STREAM } from '@eventstore/db-client'
import { Pool } from 'undici'
import { clientOf } from '../../src/ledger/connection/client.ts'
import { signatureHeaders } from '../../src/webhooks/signature.ts'

/** As many connections as the dispatcher may open. */
const atOnce = 256
const seconds = 4

/** The body of a license event. */
const body = JSON.stringify({
  id: 'whd_06f5w3k8hx7vq2m4n9t1r0s5zc',
  created: 1_795_000_000,
  version: '2026-11-01',
  event: 'license.revoked',
  tenant_id: 'acme',
  license_id: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
  product_id: 'editor',
  key_type_id: 'default',
  customer_email: null,
  sequence: 1,
})

const [address = '', storeUrl] = process.argv.slice(2)
const pool = new Pool(address, { connections: atOnce })
const store = storeUrl === undefined ? undefined : clientOf(storeUrl)
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const padding = 'x'.repeat(240)

async function post(): Promise<void> {
  const timestamp = Math.floor(Date.now() / 1000)
  const headers = {
    'content-type': 'application/json',
    ...signatureHeaders([secret], { id: 'whd_1', timestamp, body }),
  }
  const answer = await pool.request({ path: '/hook', method: 'POST', headers, body })
  await answer.body.dump()
}

async function record(): Promise<void> {
  const event = jsonEvent({ type: 'BareAttempt', data: { id: randomUUID(), padding } })
  await store?.appendToStream(`bare-${randomUUID()}`, event, { expectedRevision: NO_STREAM })
}

const until = performance.now() + seconds * 1000
let posted = 0
const lane = async () => {
  while (performance.now() < until) {
    await post()
    await record()
    posted++
  }
}
await Promise.all(Array.from({ length: atOnce }, lane))
process.stdout.write(`${JSON.stringify({ perSecond: posted / seconds })}\n`)
await pool.close()
await store?.dispose()
