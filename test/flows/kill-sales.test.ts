// Guarantee: whoever takes in a sale and is killed by SIGKILL, a server that is running gives the sale its one license
// and brings it to where what was recorded wants it, and nobody has to ask for that.
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createHost } from '../harness/process.ts'
import { createOperator } from './operator.ts'
import { client, createVendor } from './vendor.ts'

const host = createHost()
const victim = fileURLToPath(new URL('sale-victim.ts', import.meta.url))

const issued = ['LicenseMinted']
const revoked = [...issued, 'LicenseRefunded', 'LicenseRevoked', 'SaleFollowed']
/** Right after which event; and what the license comes to when nothing is told again. */
const points: [type: string, license: string[]][] = [
  ['SaleReceived', issued],
  ['LinkBound', issued],
  ['LicenseMinted', issued],
  ['SaleLicensed', issued],
  ['SaleRefunded', revoked],
  ['LicenseRefunded', revoked],
]

test('sales of processes that are killed are carried on by another', { timeout: 180_000 }, async () => {
  const { environment } = await host.stores()
  const token = await createVendor(environment)
  const server = await host.serve(environment)
  await client(server.address, token).createProduct(1)
  for (const [type] of points) {
    const { signal } = await host.start(['node', victim, type, type.toLowerCase()], environment).finished
    expect(signal).toBe('SIGKILL')
  }
  const operator = await createOperator(environment)
  /** What every sale's license has come to, by the point at which its first process was killed. */
  const licenses = async () => {
    const log = (await operator.readLog()).filter((entry) => entry.readable)
    return points.map(([type]) => {
      const ids = log.flatMap(({ event }) =>
        event.type === 'LicenseMinted' && event.data.saleId === `cs_${type.toLowerCase()}`
          ? event.data.licenseId
          : [],
      )
      const events = log.flatMap(({ stream, event }) => (stream === `license-${ids[0]}` ? event.type : []))
      return [type, ids.length, events]
    })
  }
  const whole = points.map(([type, events]) => [type, 1, events])
  await expect.poll(licenses, { timeout: 60_000, interval: 1000 }).toStrictEqual(whole)
  await operator.close()
})
