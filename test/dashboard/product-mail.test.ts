/**
 * Guarantee: the mail of a product is set on a page by the rules of the API, and a test mail goes to the member who asks
 * for it and to nobody else, with the answer of the mail server in plain words.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createToken } from '../../src/commands/tokens.ts'
import { createMailing } from '../../src/mail/mailing.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { temporaryDirectory } from '../harness/ledger.ts'
import { startMailServer } from '../harness/mail-server.ts'
import { makeProduct } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember, type TestMember } from './members.ts'

let mailServer: Awaited<ReturnType<typeof startMailServer>>
let refusal: Error | undefined
let api: TestApi
let tenant: TestTenant
let admin: TestMember
let client: Client
beforeAll(async () => {
  mailServer = await startMailServer({
    onRcptTo: (_address, _session, callback) => callback(refusal),
  })
  const from = { name: null, email: 'licenses@keyledger.example' }
  api = await openTestApi({ mailing: createMailing({ smtpUrl: mailServer.url, from }, temporaryDirectory()) })
})
afterAll(async () => {
  await api.ledger.ports.mailing.mailer.close()
  await api.close()
  await mailServer.stop()
})
beforeEach(async () => {
  refusal = undefined
  mailServer.taken.length = 0
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Acme Editor', keyPrefix: 'ACME' })
  admin = await makeMember(api.ledger, tenant.tenantId, 'admin')
  client = clientOf(api.app)
  await client.signIn(admin)
})

const page = '/dashboard/products/editor/mail'
const saved = async () => {
  const { body } = await api.ask('GET', '/v1/products/editor/mail', { token: tenant.token })
  return (body as { mail: Record<string, unknown> }).mail
}
const auditOf = async () => wordsOf(await client.get('/dashboard/audit?kind=mail'))

describe('the form', () => {
  test('is reached from the product, saves every setting, and shows it again', async () => {
    expect((await client.get('/dashboard/products/editor')).text).toContain(`href="${page}"`)
    const fields: Record<string, string> = {
      ...fieldsOf(await client.get(page)),
      fromName: 'Acme',
      fromEmail: 'keys@acme.example',
      replyTo: 'support@acme.example',
      subject: 'Your key for {{product_name}}',
      text: '{{greeting}},\r\n\r\n{{license_key}}\r\n',
      html: '<p>{{license_key}}</p>',
      language: 'de',
      receipt: 'on',
    }
    expect(fields).toMatchObject({ enabled: 'on' })
    expect(await client.post(page, fields)).toMatchObject({ status: 303, location: page })
    const expected = {
      enabled: true,
      from: { name: 'Acme', email: 'keys@acme.example' },
      replyTo: 'support@acme.example',
      subject: 'Your key for {{product_name}}',
      text: '{{greeting}},\n\n{{license_key}}\n',
      html: '<p>{{license_key}}</p>',
      language: 'de',
      receipt: true,
    }
    expect(await saved()).toStrictEqual(expected)
    const again = fieldsOf(await client.get(page))
    const { _csrf, seen, ...typed } = fields
    expect(again).toMatchObject({ ...typed, text: expected.text })
    const { enabled: _, receipt: __, ...off } = again
    for (const name of ['fromName', 'fromEmail', 'replyTo', 'subject', 'text', 'html']) off[name] = ' '
    await client.post(page, off)
    expect(await saved()).toStrictEqual({
      enabled: false,
      from: null,
      replyTo: null,
      subject: null,
      text: null,
      html: null,
      language: 'de',
      receipt: false,
    })
  })

  test.each([
    [{ text: 'Thank you' }, 'must contain {{license_key}}'],
    [{ text: '{{license_key}} {{licence_key}}' }, '{{licence_key}} does not exist'],
    [{ subject: '{{everything}}' }, '{{everything}} does not exist'],
    [{ html: '<p>{{license_key}}</p>' }, 'Enter the text too'],
    [{ fromName: 'Acme' }, 'Enter the address that belongs to the name.'],
    [{ fromEmail: 'nobody' }, 'Enter an email address'],
    [{ replyTo: 'a@example.com, b@example.com' }, 'Enter an email address'],
  ])('with %j is shown again with what was typed', async (typed, words) => {
    const answer = await client.post(page, { ...fieldsOf(await client.get(page)), ...typed })
    expect(answer.status).toBe(422)
    expect(wordsOf(answer)).toContain(words)
    expect(fieldsOf(answer)).toMatchObject(typed)
    expect(await saved()).toMatchObject({ text: null, from: null })
  })

  test('does not undo a change of another member without having said so', async () => {
    const fields = fieldsOf(await client.get(page))
    await api.ask('PUT', '/v1/products/editor/mail', { token: tenant.token, body: { subject: 'Theirs' } })
    const warned = await client.post(page, { ...fields, subject: 'Mine' })
    expect(warned.status).toBe(422)
    expect(await saved()).toMatchObject({ subject: 'Theirs' })
    await client.post(page, fieldsOf(warned))
    expect(await saved()).toMatchObject({ subject: 'Mine' })
  })

  test("of another workspace's product does not exist", async () => {
    const other = await makeTenant(api.ledger)
    await makeProduct(api.ask, other.token, 'theirs')
    for (const id of ['theirs', 'absent'])
      expect((await client.get(`/dashboard/products/${id}/mail`)).status).toBe(404)
  })
})

describe('a test mail', () => {
  const sendTest = () => client.post(`${page}/test`)
  const outcome = async () => wordsOf(await client.get(page))

  test('goes to the own address with the settings of the product, and is in the audit log', async () => {
    const body = {
      enabled: false,
      subject: 'Key for {{product_name}}',
      text: '{{greeting}}: {{license_key}}',
    }
    await api.ask('PUT', '/v1/products/editor/mail', { token: tenant.token, body })
    await client.get(page)
    expect(await sendTest()).toMatchObject({ status: 303, location: page })
    expect(await outcome()).toContain(`The mail server accepted the test mail to ${admin.email}.`)
    const [mail, ...others] = mailServer.taken
    expect(others).toStrictEqual([])
    expect(mail).toMatchObject({ from: 'licenses@keyledger.example', to: [admin.email] })
    expect(mail?.raw).toContain('Subject: Test: Key for Acme Editor')
    expect(mail?.raw).toContain('Hello Ada Example: ACME-TEST-MAIL-NOT-A-REAL-KEY')
    expect(await auditOf()).toContain(`${admin.email} dashboard tested the mail of the product editor`)
  })

  test('that the mail server refuses is explained', async () => {
    refusal = Object.assign(new Error('5.7.1 relaying denied'), { responseCode: 554 })
    await client.get(page)
    await sendTest()
    expect(await outcome()).toContain(
      'The test mail was not sent. The mail server refused it: 554 5.7.1 relaying denied',
    )
  })

  test('can be sent five times at once', async () => {
    await client.get(page)
    for (let sent = 0; sent < 6; sent++) await sendTest()
    expect(await outcome()).toContain('Too many test mails. Try again in 60 seconds.')
    expect(mailServer.taken).toHaveLength(5)
  })

  describe('over the API', () => {
    const tokenOf = async (memberId: string) => {
      const asked = {
        tenantId: tenant.tenantId,
        name: 't',
        scopes: ['products:write'],
        expiresAt: null,
      } as const
      const by = { requestId: 'req_person', actor: `member:${memberId}` }
      return (await createToken(api.ledger.ports, asked, by)).token
    }
    const send = (token: string, id = 'editor') => api.ask('POST', `/v1/products/${id}/mail/test`, { token })

    test('goes to the member behind the token, and returns the answer', async () => {
      const token = await tokenOf(admin.memberId)
      expect(await send(token)).toMatchObject({
        status: 200,
        body: {
          test: {
            to: admin.email,
            subject: 'Test: Your license key for Acme Editor (order test-mail)',
            ok: true,
            status: 250,
            error: null,
            kept: false,
          },
        },
      })
      refusal = Object.assign(new Error('no'), { responseCode: 550 })
      expect((await send(token)).body).toMatchObject({
        test: { ok: false, status: 550, error: 'mail_refused' },
      })
      expect(mailServer.taken).toHaveLength(1)
      for (let sent = 0; sent < 3; sent++) await send(token)
      const over = await send(token)
      expect(over).toMatchObject({ status: 429, headers: { 'retry-after': '60' } })
    })

    test('needs a token of a member, and a product of the tenant', async () => {
      expect(await send(tenant.token)).toMatchObject({ status: 422 })
      const token = await tokenOf(admin.memberId)
      expect(await send(token, 'absent')).toMatchObject({ status: 404 })
      expect(mailServer.taken).toStrictEqual([])
    })
  })
})
