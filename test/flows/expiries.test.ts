// Guarantee: every expiry is recorded exactly once, however many processes record expiries and however often they
// are killed.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createHost } from '../harness/process.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { createOperator } from './operator.ts'
import { client, createVendor, productId } from './vendor.ts'

const host = createHost()
/** `KEYLEDGER_TEST_KILLS=100` for the long run. */
const kills = wholeVariable('KEYLEDGER_TEST_KILLS', 2)
const licenses = kills * 100

test(`each expiry of ${licenses} licenses is recorded once, despite kills`, {
  timeout: testMs + kills * 5000,
}, async () => {
  const { environment } = await host.stores()
  const token = await createVendor(environment)
  const api = await host.serve(environment, { roles: 'api' })
  const asking = client(api.address, token)
  await asking.createProduct(1)
  const operator = await createOperator(environment)
  const recorded = async () =>
    (await operator.readLog()).flatMap((entry) =>
      entry.readable && entry.event.type === 'LicenseExpired' ? [entry.stream] : [],
    )
  const startOne = () => host.startServer(environment, 0, 'reactions')
  try {
    let running = [startOne(), startOne()]
    const rows = Array.from({ length: licenses }, (_, index) => ({
      licenseKey: `ENDED-KEY-${index + 1000}`,
      expiresAt: '2026-01-01T00:00:00Z',
    }))
    for (let from = 0; from < licenses; from += 1000) {
      const some = { productId, licenses: rows.slice(from, from + 1000) }
      expect(await asking.send('POST', '/v1/licenses/import', some)).toMatchObject({ status: 200 })
    }

    for (let killed = 0; killed < kills; killed++) {
      const before = (await recorded()).length
      while (before < licenses && (await recorded()).length <= before) await sleep(20)
      await sleep(Math.random() * 30)
      await running[0]?.end('SIGKILL')
      running = [...running.slice(1), startOne()]
    }
    while ((await recorded()).length < licenses) await sleep(100)
    for (const one of running) await one.end('SIGTERM')
    const streams = await recorded()
    expect(streams).toHaveLength(licenses)
    expect(new Set(streams).size).toBe(licenses)
  } finally {
    await operator.close()
  }
})
