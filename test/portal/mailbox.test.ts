/**
 * Guarantee: without a mail server, the mails with links are in the mailbox of the workspace, where they help nobody but
 * the person who asked, and an erasure removes them.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweep } from '../../src/access/sessions.ts'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { clientOf } from '../dashboard/client.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { linkIn, openPortalOf } from './customer.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await openPortalOf(api.app, tenant.token)
  await makeProduct(api.ask, tenant.token, 'editor')
  await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
})
afterAll(() => api.close())

test('a mail with a link is in the mailbox until its person is erased', async () => {
  const { ports } = api.ledger
  const { mailbox } = ports.mailing
  const mails = async () => (await mailbox?.list(tenant.tenantId, 10)) ?? []
  const home = `/portal/${tenant.tenantId}`
  const client = clientOf(api.app)
  await client.get(`${home}/sign-in`)
  await client.post(`${home}/sign-in`, { email: 'ada@example.com' })
  await expect.poll(async () => (await mails()).length).toBe(1)
  const [mail] = await mails()
  const link = linkIn(mail?.text ?? '')
  expect((await clientOf(api.app).get(link)).status).toBe(409)
  expect((await client.get(link)).status).toBe(200)

  // The row that leads to the mail outlasts the link.
  api.ledger.clock.advance(3 * 86_400_000)
  await sweep(ports.db, ports.now())
  const subjectId = (await ports.subjects.findSubject(tenant.tenantId, 'ada@example.com')) ?? ''
  const { mails: removed } = await eraseSubject(ports, tenant.tenantId, subjectId, origin)
  expect([removed, await mails()]).toStrictEqual([1, []])
})
