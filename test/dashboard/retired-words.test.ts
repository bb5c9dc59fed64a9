/**
 * Guarantee: no page of the dashboard, public page or mail contains a word or phrase of infra/checks/words/retired.txt, neither
 * rendered nor in the text of a branch that is not rendered here.
 */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeApprovalMail } from '../../src/domain/mails/approval-mail.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import type { TestDispatch } from '../harness/dispatch.ts'
import { type Acme, makeAcme } from './acme.ts'
import { type Client, clientOf } from './client.ts'
import { readEveryPage, sellAtAcme } from './every-page.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const phrases = readFileSync(`${root}/infra/checks/words/retired.txt`, 'utf8')
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
  page.match(/[\w ]*[a-z.,;:]<(?:code|a|strong|time)\b[^>]*>[^<]*|[^>]*<\/(?:code|a|strong|time)>\w[^<]*/g) ??
  []

/** Where the texts of the portal are in German. */
const inGerman = /\/portal\/(?:languages|texts)\/de$/

let api: TestApi
let acme: Acme
let owner: Client
let dispatch: TestDispatch
beforeAll(async () => {
  api = await openTestApi()
  acme = await makeAcme({ api })
  dispatch = await sellAtAcme(api, acme)
  owner = clientOf(api.app)
  await owner.signIn(acme.owner)
})
afterAll(async () => {
  await dispatch.stop()
  await api.close()
})

test('no page of the dashboard contains a retired word, or words without a space between them', async () => {
  await expect.poll(async () => (await owner.get('/dashboard/mailbox')).text).toContain('/dashboard/mailbox/')
  const found: Record<string, string[]> = {}
  const read = (path: string, text: string) => {
    if (inGerman.test(path)) return
    const words = [...retiredIn(textsOf(text)), ...runTogetherIn(text)]
    if (words.length > 0) found[path] = words
  }
  const stranger = clientOf(api.app)
  for (const path of ['/dashboard/sign-in', acme.welcome, '/dashboard/welcome/expired'])
    read(path, (await stranger.get(path)).text)
  const { pages, missed } = await readEveryPage(api.app, owner, acme)
  for (const { path, text } of pages) read(path, text)
  for (const text of ['ada@example.com', 'nothing that exists', 'MacBook'])
    read(`search ${text}`, (await owner.post('/dashboard/search', { text })).text)

  expect(found).toStrictEqual({})
  expect(missed).toStrictEqual([])
})

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
    listUrl: 'https://keys.example',
  }
  const asked = {
    title: 'Revoke a license',
    expiresAt: '2026-03-01T12:00:00.000Z',
    url: 'https://keys.example',
  }
  for (const name of [null, 'CI'])
    for (const kind of ['member', 'program'] as const) {
      const mail = writeApprovalMail(
        { ...facts, requests: [{ ...asked, requester: { kind, name } }] },
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
    'src/gate/{words,effects/words,operations/*}.ts',
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
