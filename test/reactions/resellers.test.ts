/**
 * Guarantee: what a reseller's quota lost to a process that died before it minted comes back after 25 hours, once; a license that is
 * there keeps counting.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findReseller } from '../../projections/resellers.ts'
import { mintForReseller, returnNotMinted } from '../../src/commands/resellers/licenses.ts'
import { newId } from '../../src/credentials/id.ts'
import { returnLicensesNotMinted } from '../../src/reactions/resellers.ts'
import { makeReseller } from '../dashboard/members.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { makeProduct } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
const quota = { productId: 'editor', keyTypeId: 'default', licenses: 2 }
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const hour = 3_600_000

test('a count without a license is given back after 25 hours', async () => {
  const { ports, clock } = api.ledger
  const { tenantId } = tenant
  const { resellerId } = await makeReseller(api.ledger, tenantId, [quota])
  const whose = { tenantId, resellerId }
  const used = async () =>
    (await findReseller(ports.db, tenantId, resellerId))?.reseller.quotas.map((one) => one.used)
  const failures: unknown[] = []
  const process = returnLicensesNotMinted(ports, (failure) => failures.push(failure))
  const input = { productId: 'editor', email: 'ada@example.com' }

  const { license } = await mintForReseller(ports, whose, input, origin)
  // The process dies after the count: nothing is appended to the stream of the license.
  const licenseId = newId('lic')
  const dying: typeof ports.execute = (decider, id, ...rest) =>
    decider.category === 'license' ? Promise.reject(new Error('killed')) : ports.execute(decider, id, ...rest)
  const victim = { ...ports, execute: dying, newId: () => licenseId }
  await expect(mintForReseller(victim, whose, input, origin)).rejects.toThrow('killed')
  await ports.untilVisible((await ports.ledger.head()) ?? 0n)
  expect(await used()).toStrictEqual([2])
  await expect(mintForReseller(ports, whose, input, origin)).rejects.toMatchObject({
    code: 'reseller_quota_used',
  })

  clock.advance(24 * hour)
  await process.poll()
  expect(await used()).toStrictEqual([2])
  clock.advance(hour + 1000)
  await process.poll()
  await process.poll()
  expect(await used()).toStrictEqual([1])
  await returnNotMinted(ports, { ...whose, licenseId: license.licenseId }, origin)
  await returnNotMinted(ports, { ...whose, licenseId }, origin)
  expect(await used()).toStrictEqual([1])
  expect(failures).toStrictEqual([])
})
