/**
 * Guarantee: what the sender of mails tells of a mail is recorded at the mail, once and without an address, if the sender
 * proves who it is. Anything else changes nothing.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MailSender } from '../../src/domain/mails/senders.ts'
import { createMailChannel } from '../../src/mail/channel.ts'
import { createMailing } from '../../src/mail/mailing.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sellLicense, startDispatch, type TestDispatch } from '../harness/dispatch.ts'
import { startMailServer } from '../harness/mail-server.ts'
import { makeProduct } from '../http/samples.ts'
import {
  certificate,
  certificateUrl,
  headersOf,
  type Posted,
  playedSenders,
  type SentMail,
  signedBySns,
  topic,
} from './bounce-senders.ts'

let api: TestApi
let dispatch: TestDispatch
let server: Awaited<ReturnType<typeof startMailServer>>
let tenant: TestTenant
const readUrls: string[] = []

beforeAll(async () => {
  server = await startMailServer()
  const from = { name: null, email: 'licenses@keyledger.example' }
  api = await openTestApi({
    mailing: createMailing({ smtpUrl: server.url, from }, ''),
    readFromSns: async (url) => {
      readUrls.push(url)
      return certificate
    },
  })
  dispatch = await startDispatch(api.ledger, {
    channels: { mail: createMailChannel(api.ledger.ports, 'https://keys.acme.example') },
  })
})
afterAll(async () => {
  await dispatch.stop()
  expect(dispatch.failures).toStrictEqual([])
  await api.ledger.ports.mailing.mailer.close()
  await api.close()
  await server.stop()
})
beforeEach(async () => {
  readUrls.length = 0
  server.taken.length = 0
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Acme Editor', keyTypes: [{ name: 'Pro' }] })
})

/** Sells a license and returns its mail, as the mail server took it. */
async function mailSent(): Promise<SentMail> {
  await sellLicense(api.ledger, tenant.tenantId)
  await expect.poll(() => server.taken.length).toBe(1)
  await expect.poll(async () => (await mails())[0]?.status).toBe('delivered')
  return { headers: headersOf(server.taken[0]?.raw ?? '') }
}

type Mail = { id: string; status: string; bounces: { kind: string; sender: string; status: string | null }[] }
async function mails(query = ''): Promise<Mail[]> {
  const { body } = await api.ask('GET', `/v1/mails${query}`, { token: tenant.token })
  return (body as { items: Mail[] }).items
}

/** Connects a sender. @returns the path and query of its address */
async function connected(sender: MailSender, of = tenant): Promise<string> {
  const { key } = playedSenders[sender]
  const { status, body } = await api.ask('PUT', '/v1/mail-sender', { token: of.token, body: { sender, key } })
  expect(status).toBe(200)
  const url = new URL((body as { address: string }).address)
  return `${url.pathname}${url.search}`
}

const post = (address: string, { raw, headers = {} }: Posted) => api.ask('POST', address, { raw, headers })
const kinds = async () => (await mails())[0]?.bounces.map(({ kind }) => kind)

describe.each(MailSender.options)('%s', (sender) => {
  const { tells, forges } = playedSenders[sender]

  test('tells of a bounce, which is recorded once, without the address', async () => {
    const mail = await mailSent()
    const address = await connected(sender)
    const told = tells('permanent', mail, '42')
    for (let times = 0; times < 2; times += 1) {
      expect(await post(address, told)).toMatchObject({ status: 200, body: { received: true } })
    }
    const [shown] = await mails('?bounce=permanent')
    expect(shown?.status).toBe('delivered')
    expect(shown?.bounces).toHaveLength(1)
    expect(shown?.bounces[0]).toMatchObject({ kind: 'permanent', sender })
    expect([null, '5.1.1']).toContain(shown?.bounces[0]?.status)
    const { rows } = await api.ledger.db.query<{ state: unknown }>(
      'select state from deliveries where delivery_id = $1',
      [shown?.id],
    )
    expect(JSON.stringify(rows)).not.toMatch(/ada@example|no such user/)
  })

  test('tells of a mail that did not arrive for now, and of a complaint', async () => {
    const mail = await mailSent()
    const address = await connected(sender)
    await post(address, tells('transient', mail, '1'))
    expect(await kinds()).toStrictEqual(['transient'])
    await post(address, tells('complaint', mail, '2'))
    expect(await kinds()).toStrictEqual(['transient', 'complaint'])
  })

  test('is refused with another token, and with another signature', async () => {
    const mail = await mailSent()
    const address = await connected(sender)
    const told = tells('permanent', mail, '42')
    const other = address.replace(/token=.{5}/, 'token=AAAAA')
    for (const wrong of [
      other,
      address.replace(/\?.*/, ''),
      address.replace(/token=.*/, 'token=1&token=2'),
    ]) {
      expect((await post(wrong, told)).status).toBe(403)
    }
    if (forges) expect((await post(address, forges(told))).status).toBe(403)
    expect(await kinds()).toStrictEqual([])
  })

  test('changes nothing with a mail that it does not know, and with that of another workspace', async () => {
    const mail = await mailSent()
    const stranger = await makeTenant(api.ledger)
    const address = await connected(sender, stranger)
    expect((await post(address, tells('permanent', mail, '42'))).status).toBe(200)
    expect(await kinds()).toStrictEqual([])
    const id = 'whd_01k9m3v5q7e8ra9c1d3f5g7h9j'
    const unknown = Object.fromEntries(
      Object.entries(mail.headers).map(([name, value]) => [name, value.replaceAll(/whd_\w+/g, id)]),
    )
    expect((await post(address, tells('permanent', { headers: unknown }, '43'))).status).toBe(200)
  })
})

test('an address stops working when another sender is connected, and when it is disconnected', async () => {
  const mail = await mailSent()
  const first = await connected('postmark')
  const second = await connected('postmark')
  const told = playedSenders.postmark.tells('permanent', mail, '42')
  expect((await post(first, told)).status).toBe(403)
  await api.ask('DELETE', '/v1/mail-sender', { token: tenant.token })
  expect((await post(second, told)).status).toBe(403)
  const { body } = await api.ask('GET', '/v1/mail-sender', { token: tenant.token })
  expect(body).toStrictEqual({ sender: null })
  const { rows } = await api.ledger.db.query(
    "select 1 from vault.secrets where tenant_id = $1 and name like 'mail-sender.%'",
    [tenant.tenantId],
  )
  expect(rows).toStrictEqual([])
})

test('a key that does not fit the sender is refused', async () => {
  const body = { sender: 'resend', key: 're_123' }
  const { status, text } = await api.ask('PUT', '/v1/mail-sender', { token: tenant.token, body })
  expect(status).toBe(400)
  expect(text).toContain('begins with whsec_')
  expect(text).not.toContain('re_123')
})

test('what is no bounce, and no notification at all, has no effect', async () => {
  const { headers } = await mailSent()
  const address = await connected('postmark')
  const Metadata = { delivery: headers['x-pm-metadata-delivery'] }
  for (const raw of [
    JSON.stringify({ RecordType: 'Bounce', Type: 'AutoResponder', ID: 1, Metadata }),
    JSON.stringify({ RecordType: 'Delivery', Metadata }),
    JSON.stringify([1]),
    '{',
    '',
  ]) {
    expect((await post(address, { raw })).status).toBe(200)
  }
  expect(await kinds()).toStrictEqual([])
})

test('a topic of Amazon SNS is confirmed at Amazon only, and another topic is refused', async () => {
  const address = await connected('amazon_ses')
  const confirm = {
    Type: 'SubscriptionConfirmation',
    MessageId: 'm1',
    Message: 'You have chosen',
    Token: 't',
  }
  const SubscribeURL = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=t'
  expect((await post(address, signedBySns({ ...confirm, SubscribeURL }))).status).toBe(200)
  expect(readUrls).toStrictEqual([certificateUrl, SubscribeURL])
  for (const foreign of ['http://169.254.169.254/', 'https://sns.eu-central-1.amazonaws.com.evil.example/']) {
    expect((await post(address, signedBySns({ ...confirm, SubscribeURL: foreign }))).status).toBe(403)
    expect(readUrls).not.toContain(foreign)
  }
  const TopicArn = `${topic}-of-somebody-else`
  expect((await post(address, signedBySns({ ...confirm, SubscribeURL, TopicArn }))).status).toBe(403)
})

test('a certificate is read from Amazon only', async () => {
  const mail = await mailSent()
  const address = await connected('amazon_ses')
  const told = playedSenders.amazon_ses.tells('permanent', mail, '42')
  for (const url of [
    'https://sns.eu-central-1.amazonaws.com.evil.example/a.pem',
    'https://bucket.s3.amazonaws.com/a.pem',
    'http://sns.eu-central-1.amazonaws.com/a.pem',
    'https://sns.eu-central-1.amazonaws.com:8443/a.pem',
    'https://x@sns.eu-central-1.amazonaws.com/a.pem',
    'not a url',
  ]) {
    const raw = told.raw.replace(certificateUrl, url)
    expect((await post(address, { ...told, raw })).status).toBe(403)
  }
  expect(readUrls).toStrictEqual([])
  expect(await kinds()).toStrictEqual([])
})
