/**
 * With a mail server, every member who may approve a pending request gets one mail, from any number of
 * processes. A mail that is not accepted is retried, and contains nothing of the request.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { changeApprovalRule, changeConfirmationLifetime } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { confirmationStream } from '../../src/domain/streams.ts'
import { combinableScopes } from '../../src/domain/tokens/events.ts'
import { deny } from '../../src/gate/approvals.ts'
import { createMailbox } from '../../src/mail/mailbox.ts'
import type { OutgoingMail, Sending } from '../../src/mail/mailer.ts'
import { mailApprovers } from '../../src/reactions/approval-mails.ts'
import { makeMember } from '../dashboard/members.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { approver, pendingId } from '../harness/gate.ts'
import { eventsIn, origin } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'

const taken: Sending = { taken: true, status: 250, answer: '250 OK' }
const sent: OutgoingMail[] = []
let answer: (mail: OutgoingMail) => Sending
let failures: string[]

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  const mailer = {
    async send(mail: OutgoingMail) {
      sent.push(mail)
      return answer(mail)
    },
    async close() {},
  }
  const from = { name: null, email: 'licenses@keyledger.example' }
  api = await openTestApi({ mailing: { mailer, mailbox: undefined, from } })
})
afterAll(() => api.close())
beforeEach(async () => {
  // After the expiry of all requests of the previous test.
  api.ledger.clock.advance(3_600_000)
  sent.length = 0
  failures = []
  answer = () => taken
  tenant = await makeTenant(api.ledger)
})

const ports = () => api.ledger.ports
const mails = (own = ports()) =>
  mailApprovers(own, {
    baseUrl: 'https://keys.acme.example',
    onFailure: ({ error }) => failures.push(String(error)),
  })
const member = (role: 'owner' | 'approver' | 'support') => makeMember(api.ledger, tenant.tenantId, role)
const askedFor = async (token = tenant.token) =>
  pendingId(await api.ask('POST', '/v1/sdk-key/rotate', { token }))
const sentTo = () => sent.map(({ to }) => to.email).toSorted()

test('owners and approvers are notified with the link and the deadline, and without secrets', async () => {
  const [owner, deciding] = [await member('owner'), await member('approver')]
  await member('support')
  await makeProduct(api.ask, tenant.token, 'editor')
  const { id } = await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
  const asked = await api.ask('POST', `/v1/licenses/${id}/revoke`, {
    token: tenant.token,
    body: { reason: 'a reason that nobody else may read' },
  })
  await mails().poll()
  const confirmation = pendingId(asked)
  const expires = new Date(api.ledger.clock.now().getTime() + 600_000).toISOString()
  expect(sentTo()).toStrictEqual([owner.email, deciding.email].toSorted())
  const [mail] = sent
  expect(mail).toMatchObject({
    tenantId: tenant.tenantId,
    from: { name: 'keyledger', email: 'licenses@keyledger.example' },
    replyTo: null,
    subject: 'Approval needed: Revoke a license (A tenant)',
    html: expect.stringContaining('Revoke a license') as string,
  })
  for (const shown of [
    '“A tenant”',
    'Revoke a license',
    'an API client with the token “test”',
    `at ${expires.slice(11, 16)} UTC`,
    `https://keys.acme.example/dashboard/approvals/${confirmation}`,
  ]) {
    expect(mail?.text).toContain(shown)
  }
  expect(JSON.stringify(sent)).not.toMatch(/nobody else may read|ada@example\.com|kl_pat_/)
})

test('each is notified once, by any number of processes, and so is one who joins in time', async () => {
  const first = await member('owner')
  const confirmation = await askedFor()
  const processes = Array.from({ length: 4 }, () => mails())
  await Promise.all(processes.map((process) => process.poll()))
  await Promise.all(processes.map((process) => process.poll()))
  expect(sentTo()).toStrictEqual([first.email])
  const second = await member('approver')
  await mails().poll()
  expect(sentTo()).toStrictEqual([first.email, second.email].toSorted())
  const events = await eventsIn(ports().ledger, confirmationStream(confirmation))
  const mailed = events.flatMap((entry) =>
    entry.readable && entry.event.type === 'ApproverMailed' ? [entry.event.data.memberId] : [],
  )
  expect(mailed.toSorted()).toStrictEqual([first.memberId, second.memberId].toSorted())
})

test('a mail that is not accepted is retried under the same id, and does not delay others', async () => {
  const [refused, other] = [await member('owner'), await member('approver')]
  await askedFor()
  answer = ({ to }) =>
    to.email === refused.email
      ? { taken: false, problem: 'refused', status: 451, answer: `451 later, ${to.email}` }
      : taken
  const { poll } = mails()
  await poll()
  expect(sentTo()).toStrictEqual([refused.email, other.email].toSorted())
  expect(failures).toStrictEqual(['Error: the mail server rejected the mail: refused'])
  answer = () => taken
  await poll()
  expect(sent).toHaveLength(2)
  api.ledger.clock.advance(2000)
  await poll()
  await poll()
  const again = sent.filter(({ to }) => to.email === refused.email)
  expect(again).toHaveLength(2)
  expect(new Set(again.map(({ deliveryId }) => deliveryId)).size).toBe(1)
  expect(sent).toHaveLength(3)
})

describe('no mail is sent', () => {
  test('for a request that is decided or expired', async () => {
    await member('owner')
    await deny(ports(), tenant.tenantId, await askedFor(), approver)
    await askedFor()
    api.ledger.clock.advance(600_000)
    await mails().poll()
    expect(sent).toStrictEqual([])
  })

  test('to a member who may not approve it', async () => {
    const [asking, deciding] = [await member('owner'), await member('approver')]
    await changeApprovalRule(ports(), tenant.tenantId, true, origin)
    const { token } = await createToken(
      ports(),
      { tenantId: tenant.tenantId, name: 'CI', scopes: combinableScopes, expiresAt: null },
      { requestId: 'req_1', actor: `member:${asking.memberId}` },
    )
    await askedFor(token)
    await mails().poll()
    expect(sentTo()).toStrictEqual([deciding.email])
  })

  test('without a mail server', async () => {
    await member('owner')
    await askedFor()
    const mailbox = createMailbox('/nowhere')
    const mailing = { ...ports().mailing, mailer: mailbox, mailbox }
    await mails({ ...ports(), mailing }).poll()
    expect(sent).toStrictEqual([])
    expect(failures).toStrictEqual([])
  })
})

test('an API client with endless requests fills no mailbox, and does not delay the mails of other tenants', async () => {
  await member('owner')
  for (let count = 0; count < 25; count++) await askedFor()
  tenant = await makeTenant(api.ledger)
  const other = await member('owner')
  await askedFor()
  await mails().poll()
  expect(sent).toHaveLength(2)
  expect(sentTo()).toContain(other.email)
})

test('a member gets one mail in three minutes, about all requests that were made meanwhile', async () => {
  const { email } = await member('owner')
  const { poll } = mails()
  await askedFor()
  await poll()
  const later = [await askedFor(), await askedFor()]
  await poll()
  api.ledger.clock.advance(179_000)
  await poll()
  await mails().poll()
  expect(sentTo()).toStrictEqual([email])
  api.ledger.clock.advance(2000)
  await poll()
  await mails().poll()
  expect(sent).toHaveLength(2)
  expect(sent[1]?.subject).toBe('Approval needed: 2 requests (A tenant)')
  expect(sent[1]?.text).toContain('https://keys.acme.example/dashboard/approvals\n')
  for (const confirmation of later) {
    const events = await eventsIn(ports().ledger, confirmationStream(confirmation))
    expect(events.map((entry) => entry.readable && entry.event.type)).toStrictEqual([
      'ConfirmationRequested',
      'ApproverMailed',
    ])
  }
})

test('a request that lives for a day is mailed with the day on which it ends', async () => {
  await member('owner')
  await changeConfirmationLifetime(ports(), tenant.tenantId, 86_400, origin)
  const asked = await api.ask('POST', '/v1/sdk-key/rotate', { token: tenant.token })
  expect(asked.body).toMatchObject({ confirmation: { expiresInSeconds: 86_400 } })
  await mails().poll()
  const day = new Date(api.ledger.clock.now().getTime() + 86_400_000)
  const words = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(day)
  expect(sent[0]?.text).toContain(`Can be approved until: ${words} at `)
})
