/**
 * Every invitation is mailed once, from any number of processes. One that is not accepted is retried; after a crash between the mail
 * and its record it is sent again with the same id.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  addPeople,
  formOrganization,
  invitePerson,
  removePerson,
} from '../../src/commands/organizations/people.ts'
import { sayIn } from '../../src/domain/portal/texts.ts'
import { customerStream } from '../../src/domain/streams.ts'
import type { OutgoingMail, Sending } from '../../src/mail/mailer.ts'
import { mailInvitations } from '../../src/reactions/invitations.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { eventsIn, origin } from '../harness/ledger.ts'
import { makeCustomer } from '../http/samples.ts'
import { openPortalOf } from '../portal/customer.ts'

const taken: Sending = { taken: true, status: 250, answer: '250 OK' }
const sent: OutgoingMail[] = []
let answer: () => Sending | Promise<Sending>
let failures: string[]

let api: TestApi
let tenant: TestTenant
let place: { tenantId: string; customerId: string }
let personId: string
beforeAll(async () => {
  const mailer = {
    async send(mail: OutgoingMail) {
      sent.push(mail)
      return answer()
    },
    async close() {},
  }
  const from = { name: null, email: 'licenses@keyledger.example' }
  api = await openTestApi({ mailing: { mailer, mailbox: undefined, from } })
})
afterAll(() => api.close())
beforeEach(async () => {
  sent.length = 0
  failures = []
  answer = () => taken
  tenant = await makeTenant(api.ledger)
  await openPortalOf(api.app, tenant.token)
  const customerId = await makeCustomer(api.ask, tenant.token, { email: 'ada@example.com', name: 'Analysts' })
  place = { tenantId: tenant.tenantId, customerId }
  await formOrganization(api.ledger.ports, place, origin)
  const [grace] = await addPeople(
    ports(),
    place,
    [{ email: 'grace@example.com', role: 'member' }],
    'de',
    origin,
  )
  personId = grace?.personId ?? ''
})

const ports = () => api.ledger.ports
const mails = (own = ports()) =>
  mailInvitations(own, {
    baseUrl: 'https://keys.acme.example',
    onFailure: ({ error }) => failures.push(String(error)),
  })
const recorded = async () =>
  (await eventsIn(ports().ledger, customerStream(place.customerId))).filter(
    (entry) => entry.readable && entry.event.type === 'InvitationMailed',
  )

test('it is mailed once, in its language, also by processes that poll at the same time', async () => {
  await Promise.all(Array.from({ length: 5 }, () => mails().poll()))
  expect(sent.map(({ to }) => to.email)).toStrictEqual(['grace@example.com'])
  expect(sent[0]).toMatchObject({
    tenantId: tenant.tenantId,
    from: { name: 'Acme' },
    replyTo: 'help@acme.example',
    subject: sayIn('de', {})('inviteSubject', { organization: 'Analysts' }),
  })
  expect(sent[0]?.text).toContain(`https://keys.acme.example/portal/${tenant.tenantId}/sign-in`)
  expect(await recorded()).toHaveLength(1)
  await mails().poll()
  expect(sent).toHaveLength(1)
})

test('one that is not accepted is retried', async () => {
  answer = () => ({ taken: false, status: 451, answer: '451 later', problem: 'refused' })
  const mailing = mails()
  await mailing.poll()
  expect(failures).toHaveLength(1)
  expect(await recorded()).toHaveLength(0)
  answer = () => taken
  api.ledger.clock.advance(10 * 60_000)
  await mailing.poll()
  expect(await recorded()).toHaveLength(1)
  expect(new Set(sent.map(({ deliveryId }) => deliveryId)).size).toBe(1)
})

test('after a crash between the mail and its record, it is sent again with the same id', async () => {
  const { ports: own } = api.ledger
  const execute: typeof own.execute = async (decider, id, command, ...rest) => {
    if (typeof command !== 'function') throw new Error('the mail is sent before its record is decided')
    const prepare = command as (state: unknown) => unknown
    return own.execute(
      decider,
      id,
      async (state: unknown) => {
        await prepare(state)
        throw new Error('killed')
      },
      ...rest,
    )
  }
  await mails({ ...own, execute }).poll()
  expect(failures).toStrictEqual(['Error: killed'])
  expect(await recorded()).toHaveLength(0)
  await mails().poll()
  expect(await recorded()).toHaveLength(1)
  expect(sent).toHaveLength(2)
  expect(new Set(sent.map(({ deliveryId }) => deliveryId)).size).toBe(1)
})

test('nobody is mailed who was removed meanwhile, or while the portal is off', async () => {
  await removePerson(ports(), place, personId, origin)
  await mails().poll()
  expect(sent).toStrictEqual([])
  await addPeople(ports(), place, [{ email: 'hopper@example.com', role: 'member' }], 'en', origin)
  await openPortalOf(api.app, tenant.token, { enabled: false })
  await mails().poll()
  expect(sent).toStrictEqual([])
  await openPortalOf(api.app, tenant.token)
  await mails().poll()
  expect(sent.map(({ to }) => to.email)).toStrictEqual(['hopper@example.com'])
})

test('an invitation whose portal is closed just before it would be mailed is not recorded as mailed', async () => {
  await addPeople(ports(), place, [{ email: 'hopper@example.com', role: 'member' }], 'en', origin)
  // Both are due in one poll.
  answer = async () => {
    await openPortalOf(api.app, tenant.token, { enabled: false })
    return taken
  }
  await mails().poll()
  expect([sent.length, (await recorded()).length]).toStrictEqual([1, 1])
  answer = () => taken
  await openPortalOf(api.app, tenant.token)
  await mails().poll()
  expect(sent.map(({ to }) => to.email).toSorted()).toStrictEqual(['grace@example.com', 'hopper@example.com'])
  expect(await recorded()).toHaveLength(2)
})

test('another invitation is another mail', async () => {
  await mails().poll()
  api.ledger.clock.advance(3_600_000)
  await invitePerson(ports(), place, { personId }, origin)
  await mails().poll()
  expect(sent.map(({ subject }) => subject)).toStrictEqual(Array(2).fill(sent[0]?.subject))
  expect(new Set(sent.map(({ deliveryId }) => deliveryId)).size).toBe(2)
})
