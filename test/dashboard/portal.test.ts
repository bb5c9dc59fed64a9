// cspell:ignore Fini
/** Members who manage settings open the portal, choose how it looks and what it says; a form keeps what was typed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { findLogo, findPortal } from '../../projections/portal.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  api.ledger.clock.advance(3_600_000)
  tenant = await makeTenant(api.ledger)
  owner = clientOf(api.app)
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
})

const path = '/dashboard/portal'
const portal = () => findPortal(api.ledger.ports.db, tenant.tenantId)
const seenIn = (text: string) => /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? ''

describe('the settings', () => {
  test('open the portal, which the page then links to', async () => {
    const { text } = await owner.get(path)
    expect(text).not.toContain('Open the portal')
    const sent = { enabled: 'on', name: 'Acme', supportEmail: 'help@acme.example', accentColor: '#0D5C4F' }
    expect((await owner.post(path, { ...sent, seen: seenIn(text) })).location).toBe(path)
    expect((await portal()).settings).toStrictEqual({
      ...sent,
      enabled: true,
      accentColor: '#0d5c4f',
      texts: {},
    })
    expect((await owner.get(path)).text).toContain(`href="http://localhost:8080/portal/${tenant.tenantId}"`)
    const customer = await clientOf(api.app).get(`/portal/${tenant.tenantId}/sign-in`)
    expect(customer.text).toContain('Acme')
  })

  test.each([
    ['accentColor', '#ffff00', 'too light'],
    ['accentColor', 'red', 'Enter a color such as'],
    ['supportEmail', 'help', 'Enter an email address'],
  ])('%s %s is shown again with what is wrong', async (field, value, words) => {
    const { text } = await owner.get(path)
    const answer = await owner.post(path, { name: 'Typed', [field]: value, seen: seenIn(text) })
    expect(answer.status).toBe(422)
    for (const part of [words, 'value="Typed"', `value="${value}"`]) expect(answer.text).toContain(part)
  })

  test('do not silently replace a change of somebody else', async () => {
    const opened = seenIn((await owner.get(path)).text)
    await owner.post(path, { name: 'Theirs', seen: opened })
    const late = await owner.post(path, { name: 'Mine', seen: opened })
    expect([late.status, late.text.includes('was changed since')]).toStrictEqual([422, true])
    expect((await owner.post(path, { name: 'Mine', seen: seenIn(late.text) })).status).toBe(303)
    expect((await portal()).settings.name).toBe('Mine')
  })
})

describe('the texts', () => {
  test('are the own ones of a language, and the other settings stay', async () => {
    await owner.post(path, { enabled: 'on', seen: seenIn((await owner.get(path)).text) })
    const { text } = await owner.get(`${path}/texts/de`)
    await owner.post(`${path}/texts/de`, { signOut: 'Bis bald', title: ' ', seen: seenIn(text) })
    expect((await portal()).settings).toMatchObject({ enabled: true, texts: { de: { signOut: 'Bis bald' } } })
    expect((await owner.get(path)).text).toContain('1 of your own')
  })

  test('with a wrong placeholder are shown again', async () => {
    const { text } = await owner.get(`${path}/texts/en`)
    const answer = await owner.post(`${path}/texts/en`, { mailText: 'No link', seen: seenIn(text) })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('must contain {link}')
    expect(answer.text).toContain('No link')
  })

  test('exist in the languages of the portal alone', async () =>
    expect((await owner.get(`${path}/texts/fr`)).status).toBe(404))
})

/** Sends a form with a file. */
async function uploadTo(url: string, name: string, bytes: Buffer, fields: Record<string, string> = {}) {
  await owner.get(path)
  const form = new FormData()
  for (const [field, value] of Object.entries({ _csrf: owner.formToken(), ...fields }))
    form.append(field, value)
  form.append(name, new Blob([Uint8Array.from(bytes)]), name)
  const request = new Response(form)
  return owner.send({
    method: 'POST',
    url,
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer()),
  })
}

describe('a language', () => {
  const upload = (tag: string, file: unknown) =>
    uploadTo(
      `${path}/languages`,
      'file',
      Buffer.from(typeof file === 'string' ? file : JSON.stringify(file)),
      { tag },
    )
  const names = async () => (await portal()).addedLanguages
  const Texts = z.strictObject({ name: z.string(), texts: z.record(z.string(), z.string()) })
  const download = async (tag: string) => {
    const { text, headers } = await owner.get(`${path}/languages/${tag}`)
    expect(headers['content-disposition']).toBe(`attachment; filename="${tag}.json"`)
    return Texts.parse(JSON.parse(text))
  }

  test('is the translation of a file that the page gives out', async () => {
    const { texts } = await download('en')
    expect(texts['mail.hello']).toBe('Hello')
    const french = { name: 'Français', texts: { ...texts, signOut: 'Se déconnecter' } }
    expect((await upload(' FR ', french)).location).toBe(path)
    expect(await names()).toStrictEqual({ fr: 'Français' })
    expect(await download('fr')).toStrictEqual(french)
  })

  test('can be chosen for mails, texts of mails and invitations', async () => {
    await upload('fr', { name: 'Français', texts: { 'mail.hello': 'Bonjour', 'mail.subject': 'La clé' } })
    await makeProduct(api.ask, tenant.token, 'editor')
    const option = '<option value="fr">Français</option>'
    expect((await owner.get('/dashboard/settings/mails/key.*.*')).text).toContain(option)
    const mail = await owner.get('/dashboard/products/editor/mail')
    expect(mail.text).toContain(option)
    const preview = await owner.get('/dashboard/settings/mails/key_on_request.*.fr/preview-text')
    expect(preview.text).toMatch(/^La clé\n\nBonjour Ada Example,/)
    const template = { subject: 'Fini', text: 'Fini', html: '' }
    await owner.get('/dashboard/settings/mails/expired.*.fr')
    expect((await owner.post('/dashboard/settings/mails/expired.*.fr', template)).status).toBe(303)
    expect((await owner.get('/dashboard/settings/mails')).text).toContain('All products, Français</a>')
  })

  test('is removed, and texts of mails in it say so', async () => {
    await upload('fr', { name: 'Français', texts: {} })
    const wording = { kind: 'expired', language: 'fr', subject: 'Fini', text: 'Fini' }
    await api.ask('PUT', '/v1/mail-templates', { token: tenant.token, body: wording })
    await owner.get(path)
    expect((await owner.post(`${path}/languages/fr/remove`)).location).toBe(path)
    expect(await names()).toStrictEqual({})
    expect((await owner.get('/dashboard/settings/mails')).text).toContain('All products, fr (removed)</a>')
    expect((await owner.get(`${path}/languages/fr`)).status).toBe(404)
    await owner.get(path)
    for (const tag of ['fr', 'en'])
      expect((await owner.post(`${path}/languages/${tag}/remove`)).status).toBe(404)
  })

  test.each([
    ['french', { name: 'Français', texts: {} }, 'Enter the tag of a language'],
    ['en', { name: 'English', texts: {} }, 'built in'],
    ['fr', '{"name": ', 'This file cannot be used'],
    ['fr', { name: 'Français', texts: { nothing: '<b>' } }, 'texts › nothing: no text has this name'],
    ['fr', { name: 'Français', texts: { signOut: '{who}' } }, '{who} is not filled in here'],
  ])('as %s with a wrong file is shown again with what is wrong', async (tag, file, words) => {
    const { status, text } = await upload(tag, file)
    expect([status, text.includes(words), text.includes(`value="${tag}"`)]).toStrictEqual([422, true, true])
    expect(await names()).toStrictEqual({})
  })
})

describe('the logo', () => {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from([0, 255, 128])])
  const upload = (bytes: Buffer) => uploadTo(`${path}/logo`, 'logo', bytes)

  test('is stored and served byte for byte, and removed', async () => {
    expect((await upload(png)).location).toBe(path)
    const stored = { type: 'image/png', data: png.toString('base64') }
    expect(await findLogo(api.ledger.ports.db, tenant.tenantId)).toStrictEqual(stored)
    expect((await owner.get(`${path}/logo`)).headers['content-type']).toBe('image/png')
    await owner.get(path)
    await owner.post(`${path}/logo/remove`)
    expect((await owner.get(`${path}/logo`)).status).toBe(404)
  })

  test('is refused when it is no picture, or too large', async () => {
    for (const bytes of [
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      Buffer.concat([png, Buffer.alloc(100_000)]),
    ]) {
      const { status, text } = await upload(bytes)
      expect([status, text.includes('up to 100 kB.</p>')]).toStrictEqual([422, true])
    }
    expect(await findLogo(api.ledger.ports.db, tenant.tenantId)).toBeNull()
  })
})

test('a product says what its customers may do, and an unchanged form records nothing', async () => {
  await makeProduct(api.ask, tenant.token, 'editor')
  const edit = '/dashboard/products/editor/edit'
  const { text } = await owner.get(edit)
  const fields = Object.fromEntries(
    [...text.matchAll(/<input[^>]*?\bid="(\w+)"[^>]*?\bvalue="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  )
  const units = { leaseUnit: 'day', revalidateUnit: 'hour', onRefund: 'revoke' }
  const boxes = [
    'freeTierEnabled',
    'keyRecovery',
    'customerKeyReplacement',
    'customerFiles',
    'usageNotice',
    'showSeatHolders',
    'leaseHolder',
    'suspendShared',
    'newDeviceMail',
    'seatsFullMail',
  ]
  const typed = Object.fromEntries(Object.entries(fields).filter(([name]) => !boxes.includes(name)))
  const product = async () => (await api.ledger.ports.findProduct(tenant.tenantId, 'editor'))?.settings
  const before = await product()
  expect((await owner.post(edit, { ...typed, ...units, seen: seenIn(text) })).status).toBe(303)
  expect(await product()).toStrictEqual(before)
  const more = { customerSeatFrees: '0', customerKeyReplacement: 'on' }
  await owner.post(edit, { ...typed, ...units, ...more, seen: seenIn((await owner.get(edit)).text) })
  expect(await product()).toMatchObject({ customerSeatFrees: 0, customerKeyReplacement: true })
})
