// Guarantee: a killed server loses only the counts of its last moments, and a stopped one loses none.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPool } from '../../projections/database/pool.ts'
import { createHost } from '../harness/process.ts'
import { client, createVendor } from './vendor.ts'

const host = createHost()

test('counts survive a kill a second later, and a stop flushes the rest', async () => {
  const { environment, databaseUrl } = await host.stores()
  const token = await createVendor(environment)
  const db = createPool(databaseUrl, { size: 1 })
  const written = async () => {
    const { rows } = await db.query<{ sum: bigint }>(
      'select coalesce(sum(validations), 0)::bigint as sum from usage.hourly',
    )
    return Number(rows[0]?.sum ?? 0n)
  }
  try {
    const killed = await host.serve(environment)
    const asking = client(killed.address, token)
    await asking.createProduct(1)
    const { licenseKey } = await asking.mint()
    await asking.activate(licenseKey, 'laptop')
    const validate = async (address: string, times: number) => {
      for (let n = 0; n < times; n++) {
        expect((await client(address, token).validate(licenseKey, 'laptop')).body).toMatchObject({
          valid: true,
        })
      }
    }
    await validate(killed.address, 25)
    await sleep(1000)
    await killed.end('SIGKILL')
    const left = await written()
    expect(left).toBe(25)

    const stopped = await host.serve(environment)
    await validate(stopped.address, 7)
    await stopped.end('SIGTERM')
    expect(await written()).toBe(left + 7)
  } finally {
    await db.end()
  }
})
