/**
 * Checks of infra/compose.yaml that need no container engine: services restart whenever they end, versions are
 * pinned, and keyledger gets only variables that it knows. `npm run test:containers` runs the file.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { parseConfig, variables } from '../../src/config.ts'

const directory = join(import.meta.dirname, '../../infra')
const Service = z.looseObject({
  image: z.string(),
  restart: z.string(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
})
const text = readFileSync(join(directory, 'compose.yaml'), 'utf8')
const { services } = z
  .looseObject({ services: z.record(z.string(), Service) })
  .parse(parse(text, { merge: true }))
const entries = Object.entries(services)

test('servers restart whenever they end, also with exit code 0, and the migration runs once', () => {
  const policies = Object.fromEntries(entries.map(([name, { restart }]) => [name, restart]))
  expect(policies).toStrictEqual({
    eventstore: 'always',
    postgres: 'always',
    nats: 'always',
    keyledger: 'always',
    roles: 'no',
    variables: 'no',
    migrate: 'no',
  })
})

test('the stores have pinned versions, and the event store’s is the last one under the BSD license', () => {
  for (const { image } of Object.values(services).filter(({ image }) => image !== 'keyledger')) {
    expect(image).toMatch(/^docker\.io\/.+:\d+\.\d+[\w.-]*$/)
  }
  expect(services.eventstore?.image).toBe('docker.io/eventstore/eventstore:24.6.0-jammy')
})

test.each(['keyledger', 'migrate'])('%s writes only to its volume, and knows its variables', (name) => {
  const service = Service.parse(services[name])
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  const ofImage = readFileSync(join(directory, 'Dockerfile'), 'utf8').matchAll(/\b(KEYLEDGER_\w+)=(\S+)/g)
  const environment = {
    ...Object.fromEntries([...ofImage].map(([, variable = '', value]) => [variable, value])),
    ...Object.fromEntries(Object.entries(service.environment ?? {}).map(filledIn)),
  }
  expect(parseConfig(environment)).toMatchObject({ workers: 1, dataDirectory: '/var/lib/keyledger' })
})

/** Substitutes variables as Compose does: one without a default is a secret of 16 characters or more. */
const filledIn = ([variable, value]: [string, string]): [string, string] => [
  variable,
  value.replace(/\$\{\w+(?::-([^}]*)|[^}]*)\}/g, (_, otherwise?: string) => otherwise ?? 'a'.repeat(16)),
]

test('keyledger gets every variable of infra/.env that is not set here or by the image', () => {
  const given = services.keyledger?.environment ?? {}
  const ofImage = ['KEYLEDGER_HOST', 'KEYLEDGER_PORT', 'KEYLEDGER_DATA_DIR']
  // Only `migrate` may change the durable schemas.
  const expected = variables.filter(
    (name) => ![...ofImage, 'KEYLEDGER_MIGRATION_DATABASE_URL'].includes(name),
  )
  expect(Object.keys(given).sort()).toStrictEqual(expected.toSorted())
  const stores = ['KEYLEDGER_EVENTSTORE_URL', 'KEYLEDGER_DATABASE_URL', 'KEYLEDGER_NATS_URL']
  for (const [name, value] of Object.entries(given))
    if (!stores.includes(name)) expect(value).toMatch(new RegExp(`^\\$\\{${name}(:-[^}]*)?\\}$`))
})

test('a variable of infra/.env that does not exist is named before anything starts', () => {
  const file = z
    .object({
      services: z.object({
        variables: z.looseObject({ command: z.tuple([z.literal('config')]), env_file: z.literal('.env') }),
        migrate: z.looseObject({ depends_on: z.looseObject({ variables: z.unknown() }) }),
      }),
    })
    .parse(parse(text, { merge: true }))
  expect(file.services.migrate.depends_on.variables).toStrictEqual({
    condition: 'service_completed_successfully',
  })
})
