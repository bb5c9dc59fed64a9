/**
 * What infra/compose.yaml says without an engine to run it: every service that serves is started again whenever it ends,
 * the versions are pinned, and keyledger gets no variable that it does not know. `npm run test:containers` runs the file.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { parseConfig } from '../../src/config.ts'

const directory = join(import.meta.dirname, '../../infra')
const Service = z.looseObject({
  image: z.string(),
  restart: z.string(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
})
const { services } = z
  .looseObject({ services: z.record(z.string(), Service) })
  .parse(parse(readFileSync(join(directory, 'compose.yaml'), 'utf8'), { merge: true }))
const entries = Object.entries(services)

test('what serves is started again whenever it ends, also with exit code 0, and what migrates is run once', () => {
  const policies = Object.fromEntries(entries.map(([name, { restart }]) => [name, restart]))
  expect(policies).toStrictEqual({
    eventstore: 'always',
    postgres: 'always',
    nats: 'always',
    keyledger: 'always',
    roles: 'no',
    migrate: 'no',
  })
})

test('the stores have versions, and the event store has the last one under the BSD license', () => {
  for (const { image } of Object.values(services).filter(({ image }) => image !== 'keyledger')) {
    expect(image).toMatch(/^docker\.io\/.+:\d+\.\d+[\w.-]*$/)
  }
  expect(services.eventstore?.image).toBe('docker.io/eventstore/eventstore:24.6.0-jammy')
})

test.each(['keyledger', 'migrate'])('%s writes to its volume only, and knows its variables', (name) => {
  const service = Service.parse(services[name])
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  const ofImage = readFileSync(join(directory, 'Dockerfile'), 'utf8').matchAll(/\b(KEYLEDGER_\w+)=(\S+)/g)
  const environment = {
    ...Object.fromEntries([...ofImage].map(([, variable = '', value]) => [variable, value])),
    ...Object.fromEntries(Object.entries(service.environment ?? {}).map(filledIn)),
  }
  expect(parseConfig(environment)).toMatchObject({ workers: 1, dataDirectory: '/var/lib/keyledger' })
})

/** As Compose does: what has no default is a secret of 16 characters or more. */
const filledIn = ([variable, value]: [string, string]): [string, string] => [
  variable,
  value.replace(/\$\{\w+(?::-([^}]*)|[^}]*)\}/g, (_, otherwise?: string) => otherwise ?? 'a'.repeat(16)),
]
