// Guarantee: alerts and the dashboard use existing metrics. Each alert fires when it should and has a page that
// says what to do, and each page has an alert.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from '../harness/process.ts'
import { promtool } from '../harness/promtool.ts'

const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const textOf = (path: string) => readFileSync(fileOf(path), 'utf8')

const rules = textOf('infra/monitoring/alerts.yaml')
const rulesTests = ['alerts.test.yaml', 'alerts.days.test.yaml']
const expressions = [...rules.matchAll(/expr: >-\n((?: {10}.*\n)+)/g)].map(([, text = '']) => text)
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)

const Dashboard = z.looseObject({
  panels: z.array(z.looseObject({ targets: z.array(z.looseObject({ expr: z.string() })) })).min(10),
  templating: z.looseObject({ list: z.array(z.looseObject({ query: z.unknown() })) }),
})
const dashboard = Dashboard.parse(JSON.parse(textOf('infra/monitoring/dashboard.json')))
const asked = [
  ...expressions,
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...dashboard.templating.list.map(({ query }) => JSON.stringify(query)),
]

describe('of a running server', () => {
  const host = createHost()
  let metrics = ''
  let routes: string[] = []
  beforeAll(async () => {
    const { environment } = await host.stores()
    const token = 'a-token-for-the-monitor'
    const { address } = await host.serve({ ...environment, KEYLEDGER_METRICS_TOKEN: token }, { roles: 'api' })
    const description = await fetch(`${address}/v1/openapi.json`)
    const { paths } = z.object({ paths: z.record(z.string(), z.unknown()) }).parse(await description.json())
    routes = [...Object.keys(paths)]
    metrics = await (
      await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    ).text()
  })

  test('every metric that is used exists', () => {
    const shown = new Set([...metrics.matchAll(/^([a-z0-9_]+)(?:\{| )/gm)].map(([, name]) => name))
    const named = asked.flatMap((text) =>
      [...text.matchAll(/\b(?:keyledger|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name),
    )
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter((name) => !shown.has(name))).toStrictEqual([])
  })

  test('every route that is used exists', () => {
    const named = asked.flatMap((text) =>
      [...text.matchAll(/route!?=~?\\?"([^"\\]+)/g)].flatMap(([, list = '']) => list.split('|')),
    )
    expect(named).toContain('/v1/licenses/validate')
    expect(named.filter((route) => !routes.includes(route))).toStrictEqual([])
  })
})

describe('an alert', () => {
  test.each(alerts)('%s has a page that says what it means and what to do', (name) => {
    const [, path = ''] = new RegExp(`alert: ${name}\\n(?:.*\\n)*? +runbook: (\\S+)`).exec(rules) ?? []
    const page = textOf(path)
    expect(page).toMatch(new RegExp(`^# ${name}\\n`))
    expect(page).toMatch(/^## What it means\n\n.+/m)
    expect(page).toMatch(/^\*\*Effect\.\*\* .+/m)
    expect(page).toMatch(/^## What to do\n\n1\. .+/m)
    expect(textOf('docs/operating/alerts/README.md')).toContain(`[${name}](${path.split('/').at(-1)})`)
  })

  test('exists for each page', () => {
    const pages = readdirSync(fileOf('docs/operating/alerts')).filter((name) => name !== 'README.md')
    const named = [...rules.matchAll(/runbook: docs\/operating\/alerts\/(\S+)/g)].map(([, name]) => name)
    expect(pages.sort()).toStrictEqual([...named].sort())
    expect(new Set(named).size).toBe(alerts.length)
  })

  test('is covered by the tests of promtool', () => {
    const tests = rulesTests.map((file) => textOf(`infra/monitoring/${file}`)).join('\n')
    const tried = new Set([...tests.matchAll(/alertname: (\w+)/g)].map(([, name]) => name))
    expect(alerts.filter((name) => !tried.has(name))).toStrictEqual([])
  })
})

test('promtool accepts the rules, and each fires when it should', (context) => {
  const program = promtool()
  if (program === undefined) {
    context.skip('Alert rules are tested with promtool: install it (Debian: apt-get install prometheus)')
    return
  }
  const run = (...words: string[]) =>
    execFileSync(program, words, { cwd: fileOf('infra/monitoring'), encoding: 'utf8', stdio: 'pipe' })
  expect(run('check', 'rules', 'alerts.yaml')).toContain(`SUCCESS: ${alerts.length} rules found`)
  expect(run('test', 'rules', ...rulesTests)).toContain('SUCCESS')
})
