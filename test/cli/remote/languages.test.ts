/** A vendor adds a language with a file, which begins as the texts in English that the command line prints. */
import { writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from '../../harness/process.ts'
import { createMachine, type Machine } from './machine.ts'
import { openTestServer } from './server.ts'

const host = createHost()
let machine: Machine
beforeAll(async () => {
  const server = await openTestServer()
  machine = createMachine(host, { KEYLEDGER_SERVER: server.address, KEYLEDGER_TOKEN: server.tenant.token })
})

const One = z.object({
  language: z.object({ name: z.string(), missing: z.number(), texts: z.record(z.string(), z.string()) }),
})

test('it is shown, added from a file, listed and removed', async () => {
  const { language } = await machine.json(One, 'languages', 'show', 'en')
  const texts = { ...language.texts, signOut: 'Se déconnecter' }
  const file = host.path('fr.json')
  writeFileSync(file, JSON.stringify({ name: 'Français', texts }))
  const added = await machine.json(One, 'languages', 'set', 'fr', '--data', `@${file}`)
  expect(added.language).toMatchObject({ name: 'Français', missing: 0, texts })
  expect((await machine.run('languages', 'list')).stdout).toMatch(/^fr +Français +false +0$/m)
  expect((await machine.run('languages', 'remove', 'fr', '--yes')).code).toBe(0)
  expect((await machine.run('languages', 'show', 'fr')).stderr).toContain('language not found')
})

test('a file that cannot be used is refused with what to do', async () => {
  const file = host.path('it.json')
  writeFileSync(file, JSON.stringify({ name: 'Italiano', texts: { nothing: 'x' } }))
  const { code, stderr } = await machine.run('languages', 'set', 'it', '--data', `@${file}`)
  expect([code, stderr]).toStrictEqual([
    2,
    expect.stringContaining('take the names from GET /v1/portal/languages/en'),
  ])
})
