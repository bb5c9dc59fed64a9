// Guarantee: two servers on one database share one limit, and a server that was killed and restarted does not begin
// with a full one.
import { expect, test } from 'vitest'
import { createHost, type Server } from '../harness/process.ts'
import { createVendor } from './vendor.ts'

const host = createHost()

test('two servers with a burst of 100 admit about 100 of 200 calls, and no more after a kill', async () => {
  const { environment } = await host.stores()
  const token = await createVendor(environment)
  // So slow that nothing refills during the test.
  const limited = { ...environment, KEYLEDGER_LIMIT_MANAGEMENT: '1/100' }
  const call = async ({ address }: Server) => {
    const response = await fetch(`${address}/v1/tokens/verify`, {
      headers: { authorization: `Bearer ${token}` },
    })
    await response.text()
    return response
  }
  const [one, two] = await Promise.all([host.serve(limited), host.serve(limited)])
  let admitted = 0
  for (let round = 0; round < 20; round++) {
    const servers = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : two))
    for (const { status, headers } of await Promise.all(servers.map(call))) {
      expect([200, 429]).toContain(status)
      if (status === 200) admitted++
      else expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
  }
  // Two processes admit no less than 90 % of a limit, and no more than 105 %.
  expect(admitted).toBeGreaterThanOrEqual(90)
  expect(admitted).toBeLessThanOrEqual(105)
  await one.end('SIGKILL')
  const again = await host.serve(limited)
  for (let round = 0; round < 20; round++) if ((await call(again)).status === 200) admitted++
  expect(admitted).toBeLessThanOrEqual(105)
})
