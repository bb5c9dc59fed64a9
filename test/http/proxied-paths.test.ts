/** Guarantee: the page on deployment names every path that a proxy must let through, and no other. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routesOf } from '../dashboard/routes.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const page = readFileSync(join(import.meta.dirname, '../../docs/operating/deploy.md'), 'utf8')
const [, section = ''] = page.split('## Behind a proxy\n')
const [proxied = ''] = section.split('\n## ')

/** What monitoring asks within the network. */
const inside = ['/livez', '/metrics', '/readyz']

const firstOf = (path: string): string => /^\/[^/*]*/.exec(path)?.[0] ?? path

test('the table of paths has the first part of every route', () => {
  const listed = [...proxied.matchAll(/^\| `([^`]+)` /gm)].map(([, path = '']) => path)
  const routed = new Set(routesOf(api.app).map(({ path }) => firstOf(path)))
  const open = [...routed].filter((path) => !inside.includes(path))
  expect(listed.toSorted()).toStrictEqual(open.toSorted())
})
