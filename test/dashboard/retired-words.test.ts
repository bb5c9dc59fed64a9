/**
 * Guarantee: no page of the dashboard, public page or mail contains a word or phrase of words/retired.txt, neither
 * rendered nor in the text of a branch that is not rendered here.
 */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeApprovalMail } from '../../src/domain/mails/approval-mail.ts'
import { createMailChannel } from '../../src/mail/channel.ts'
import { receiveNotification } from '../../src/sales/receive.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { pointWebhook, startDispatch, type TestDispatch } from '../harness/dispatch.ts'
import { origin } from '../harness/ledger.ts'
import { purchase } from '../sales/notifications.ts'
import { parkedSale } from '../sales/shop.ts'
import { type Acme, makeAcme } from './acme.ts'
import { type Client, clientOf } from './client.ts'
import { dashboardRoutes } from './routes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const phrases = readFileSync(`${root}/words/retired.txt`, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const retired = new RegExp(`(?<![\\w-])(?:${phrases.join('|')})(?![\\w-])`, 'gi')

/** The retired words in a text, each with its context. */
const retiredIn = (text: string): string[] =>
  [...text.matchAll(retired)].map(({ index }) => text.slice(Math.max(0, index - 60), index + 60))

/** The text of a page: its content, its title, and the attributes for screen readers. */
const textsOf = (page: string): string =>
  [
    ...[...page.matchAll(/ (?:aria-label|title|alt|placeholder|value)="([^"]*)"/g)].map(
      ([, text = '']) => text,
    ),
    page.replaceAll(/<[^>]*>/g, ' '),
  ]
    .join('\n')
    .replaceAll(/\s+/g, ' ')

/** Words joined by an element boundary: templates drop a space before the end of a line. */
const runTogetherIn = (page: string): string[] =>
  page.match(/[\w ]*[a-z.,;:]<(?:code|a|strong|time)\b[^>]*>[^<]*/g) ?? []

let api: TestApi
let acme: Acme
let owner: Client
let dispatch: TestDispatch
beforeAll(async () => {
  api = await openTestApi()
  const { ledger } = api
  acme = await makeAcme({ api })
  const { tenantId } = acme.owner
  await pointWebhook(ledger, tenantId, 'http://127.0.0.1:9/hook')
  const { sold, refunded } = purchase('ada', { sold: { productId: 'acme-editor' } })
  for (const notification of [sold(), refunded('re_ada')])
    await receiveNotification(ledger.services, tenantId, notification, '{}', origin)
  await parkedSale(ledger, tenantId)
  dispatch = await startDispatch(ledger, { channels: { mail: createMailChannel(ledger.services) } })
  owner = clientOf(api.app)
  await owner.signIn(acme.owner)
})
afterAll(async () => {
  await dispatch.stop()
  await api.close()
})

/** Responses that are not pages, parts of pages, redirects, and the mail itself, which is read as text. */
const noPages = [
  '/dashboard/approvals/waiting',
  '/dashboard/licenses/:id/evidence',
  '/dashboard/search',
  '/dashboard/start/test-purchase',
  '/dashboard/settings/webhook',
  '/dashboard/integrations/:provider/arrival',
]

/** Enough variants, such as a revoked license or a parked sale. */
const mostOfOneRoute = 3

test('no page of the dashboard contains a retired word, or words without a space between them', async () => {
  await expect.poll(async () => (await owner.get('/dashboard/mailbox')).text).toContain('/dashboard/mailbox/')
  const routes = dashboardRoutes(api.app).filter(({ method }) => method === 'GET')
  const found: Record<string, string[]> = {}
  const seen = new Set<string>()
  const visits = new Map<string, number>()
  const read = (path: string, text: string) => {
    const words = [...retiredIn(textsOf(text)), ...runTogetherIn(text)]
    if (words.length > 0) found[path] = words
  }
  const stranger = clientOf(api.app)
  for (const path of ['/dashboard/sign-in', acme.welcome, '/dashboard/welcome/expired'])
    read(path, (await stranger.get(path)).text)
  visits.set('/dashboard/sign-in', 1).set('/dashboard/welcome/:secret', 1)

  const waiting = [
    '/dashboard/',
    '/dashboard/confirm',
    '/dashboard/device',
    '/dashboard/nothing',
    '/dashboard/integrations/stripe/secret',
    '/dashboard/integrations/stripe/items',
  ]
  const visit = async (path: string) => {
    seen.add(path)
    const route = routeOf(routes, path)
    if (noPages.includes(route) || (visits.get(route) ?? 0) >= mostOfOneRoute) return
    visits.set(route, (visits.get(route) ?? 0) + 1)
    const { text } = await owner.get(path)
    read(path, text)
    for (const [, href = ''] of text.matchAll(/href="(\/dashboard[^"#]*)/g)) {
      const next = href.replaceAll('&amp;', '&')
      if (!seen.has(next)) waiting.push(next)
    }
  }
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift())
    if (!seen.has(path)) await visit(path)

  await owner.get('/dashboard/device')
  await owner.post('/dashboard/device', { code: acme.userCode })
  await visit('/dashboard/device/review')
  for (const text of ['ada@example.com', 'nothing that exists', 'MacBook'])
    read(`search ${text}`, (await owner.post('/dashboard/search', { text })).text)

  expect(found).toStrictEqual({})
  const missed = routes.map(({ path }) => path).filter((path) => !visits.has(path) && !noPages.includes(path))
  expect(missed).toStrictEqual([])
})

/** The route of a path; the path itself when there is none. */
function routeOf(routes: readonly { path: string }[], path: string): string {
  const [plain = ''] = path.split('?')
  const fits = (route: string) => new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(plain)
  const all = routes.map((route) => route.path).filter(fits)
  return all.find((route) => !route.includes(':')) ?? all[0] ?? plain
}

test('no public page contains a retired word', async () => {
  const { tenantId } = acme.owner
  const paths = [
    `/${tenantId}/acme-editor/buy/pro`,
    `/${tenantId}/acme-editor/buy/pro/done`,
    `/dashboard/integrations/stripe/${tenantId}/return?state=none`,
  ]
  for (const path of paths) {
    const { text } = await clientOf(api.app).get(path)
    expect({ path, words: retiredIn(textsOf(text)) }).toStrictEqual({ path, words: [] })
  }
})

test('no mail contains a retired word', async () => {
  const { text } = await owner.get('/dashboard/mailbox')
  const [path = ''] = /\/dashboard\/mailbox\/\w+/.exec(text) ?? []
  const { text: html } = await owner.get(`${path}/html`)
  expect(html).toContain('license key')
  expect(retiredIn(textsOf(html))).toStrictEqual([])
  const facts = {
    to: 'ada@example.com',
    workspace: 'Acme',
    title: 'Revoke a license',
    expiresAt: '2026-03-01T12:00:00.000Z',
    url: 'https://keys.example',
  }
  for (const name of [null, 'CI'])
    for (const kind of ['member', 'program'] as const) {
      const mail = writeApprovalMail(
        { ...facts, requester: { kind, name } },
        { name: null, email: 'a@example.com' },
      )
      expect(retiredIn(`${mail.subject} ${mail.text}`)).toStrictEqual([])
    }
})

const sources = globSync(
  [
    'src/dashboard/**/*.{ts,js}',
    'src/api/payments/{buy,onboarding}.ts',
    'src/verdicts/reasons.ts',
    'src/gate/{words,operations/*}.ts',
    'src/history/*.ts',
    'src/domain/mails/*.ts',
    'src/domain/members/roles.ts',
    'src/commands/members/set-up.ts',
    'src/access/password.ts',
    'src/usage/ignored-tests.ts',
  ],
  { cwd: root },
)

/** Strings and templates with a space, outside comments: text that may be shown, not identifiers. */
const textsInCode = (code: string): string[] =>
  code
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(?<=^|\s)\/\/.*$/gm, '')
    .match(/'(?:[^'\\\n]|\\.)* (?:[^'\\\n]|\\.)*'|"[^"\n]* [^"\n]*"|`[^`\n]* [^`\n]*`|>[^<>{}]+</g) ?? []

test('no text in the code of pages and mails contains a retired word', () => {
  expect(sources.length).toBeGreaterThan(80)
  const found = sources.flatMap((path) =>
    textsInCode(readFileSync(`${root}/${path}`, 'utf8'))
      .flatMap(retiredIn)
      .map((words) => `${path}: ${words}`),
  )
  expect(found).toStrictEqual([])
})
