/** Guarantee: mail settings are replaced as a whole, and a template without the license key is rejected. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const url = '/v1/products/editor/mail'
const put = (body: unknown) => api.ask('PUT', url, { token: tenant.token, body })
const get = () => api.ask('GET', url, { token: tenant.token })

const usual = {
  enabled: true,
  from: null,
  replyTo: null,
  subject: null,
  text: null,
  html: null,
  language: 'en',
  receipt: false,
}

test('the mail settings have defaults until they are set; omitted fields return to them', async () => {
  expect(await get()).toMatchObject({ status: 200, body: { mail: usual } })
  const mail = {
    enabled: true,
    from: { name: 'Acme', email: 'licenses@acme.example' },
    replyTo: 'support@acme.example',
    subject: 'Your key for {{product_name}}',
    text: '{{greeting}}\n{{license_key}}',
    html: '<p>{{license_key}}</p>',
  }
  for (const body of [mail, { enabled: false }, {}]) {
    const expected = { mail: { ...usual, ...body } }
    expect(await put(body)).toMatchObject({ status: 200, body: expected })
    expect((await get()).body).toStrictEqual(expected)
  }
})

describe('the mail settings reject', () => {
  test.each([
    [{ text: 'Thank you' }, 'license_key'],
    [{ text: '{{license_key}} {{licence_key}}' }, 'product_name'],
    [{ html: '<p>{{license_key}}</p>' }, 'text'],
    [{ text: '{{license_key}}', html: 'Thank you' }, 'license_key'],
    [{ subject: 'one\r\nBcc: other@example.com' }, 'subject'],
    [{ subject: '{{everything}}' }, 'subject'],
    [{ from: { name: 'a\nb', email: 'a@example.com' } }, 'from'],
    [{ from: { name: null, email: 'a@example.com, b@example.com' } }, 'from'],
    [{ from: { name: null, email: 'nobody' } }, 'from'],
    [{ replyTo: 'x' }, 'replyTo'],
    [{ sender: 'x' }, 'sender'],
    [{ text: `{{license_key}}${'x'.repeat(20_000)}` }, 'text'],
    [{ text: '{{license_key}}\0' }, 'text'],
    [[], 'body'],
  ])('%j', async (body, named) => {
    const answer = await put(body)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(named)
  })
})
