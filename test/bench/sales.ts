import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { connectMarketplace, mapProduct } from '../../src/commands/integrations/integrations.ts'
import type { Origin } from '../../src/commands/origin.ts'
import { setWebhook } from '../../src/commands/webhooks.ts'
import { parseConfig } from '../../src/config.ts'
import { type Figure, ms } from './figures.ts'
import { productId, tenantId } from './fill.ts'
import { scratchLedger } from './ledger.ts'
import { startLedger } from './processes.ts'

const sales = 300
const origin: Origin = { requestId: 'req_bench', actor: 'operator:bench' }

/** The time from a sale's notification to the webhook about its license, one sale at a time without other load. */
export async function benchSales(log: (line: string) => void): Promise<Figure[]> {
  const scratch = await scratchLedger()
  const sink = await startSessionSink()
  try {
    const ledger = await startLedger(scratch.directory, { KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true' })
    try {
      const token = await sellThroughGumroad(scratch.directory, sink.url)
      const times: number[] = []
      for (let sale = 0; sale < sales; sale++) {
        const delivered = sink.told(`gr_${sale}`)
        const started = performance.now()
        await notify(`${ledger.address}/webhooks/gumroad/${tenantId}?token=${token}`, String(sale))
        await delivered
        times.push(performance.now() - started)
      }
      // The first sales are a warm-up.
      const warm = times.slice(sales / 10).sort((a, b) => a - b)
      const at = (share: number) => warm[Math.floor(warm.length * share)] ?? Number.NaN
      log(`p50 ${ms(at(0.5))}, p99 ${ms(at(0.99))}`)
      return [
        {
          what: 'sale to delivered webhook, p50',
          measured: ms(at(0.5)),
          against: `p99 ${ms(at(0.99))}`,
          ratio: '',
          bar: '< 50 ms',
          holds: at(0.5) < 50,
        },
      ]
    } finally {
      await ledger.stop()
    }
  } finally {
    sink.close()
    scratch.remove()
  }
}

/** Sets up a webhook, and a product that is sold. @returns the token of the ping URL */
async function sellThroughGumroad(directory: string, url: string): Promise<string> {
  const config = parseConfig({ KEYLEDGER_DATA_DIR: directory, KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true' })
  const { ports, close } = await openStores(config, createLog('warn'))
  try {
    await setWebhook(ports, tenantId, { url, events: undefined, rotateSecret: false }, 'cnf_bench', origin)
    const { pingToken } = await connectMarketplace(
      ports,
      tenantId,
      { provider: 'gumroad' },
      'op_bench',
      origin,
    )
    const product = await ports.findProduct(tenantId, productId)
    if (!product || pingToken === undefined) throw new Error('the product is there, and the token is new')
    await mapProduct(ports, product, 'gumroad', { permalinks: ['bench'] }, origin)
    return pingToken
  } finally {
    await close()
  }
}

async function notify(url: string, saleId: string): Promise<void> {
  const body = new URLSearchParams({
    resource_name: 'sale',
    sale_id: saleId,
    email: 'ada@example.com',
    product_permalink: 'bench',
    price: '2900',
  })
  const answer = await fetch(url, { method: 'POST', body })
  if (answer.status !== 200)
    throw new Error(`a sale was answered with ${answer.status}: ${await answer.text()}`)
}

const LicensePayload = z.object({ session_id: z.string() })

/** A receiver that reports when the license of a payment session has arrived. */
async function startSessionSink() {
  const waiting = new Map<string, () => void>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      response.writeHead(204).end()
      waiting.get(LicensePayload.parse(JSON.parse(text)).session_id)?.()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    told: (sessionId: string): Promise<void> => new Promise((resolve) => waiting.set(sessionId, resolve)),
    close: () => server.close(),
  }
}
