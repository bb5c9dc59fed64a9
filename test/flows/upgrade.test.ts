// Guarantee: the data directory and the database of an earlier version are opened and upgraded in place: the read
// models are built from its log, its keys validate, and its sealed data opens.
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createTestDatabase } from '../harness/database.ts'
import { createHost } from '../harness/process.ts'
import { client } from './vendor.ts'

const host = createHost()
const fixture = join(import.meta.dirname, '../fixtures/version-before')
/** All of it was made for this test and is used nowhere else. */
const contents = z
  .record(z.string(), z.string())
  .parse(JSON.parse(readFileSync(join(fixture, 'contents.json'), 'utf8')))
const Verified = z.object({ events: z.int(), rows: z.int().positive(), differences: z.array(z.unknown()) })
const Items = z.object({
  items: z.array(
    z.looseObject({ id: z.string(), license_id: z.string().optional(), sequence: z.int().optional() }),
  ),
})
const {
  token = '',
  licenseId = '',
  licenseKey = '',
  masterKey = '',
  revokedKey = '',
  importedKey = '',
} = contents

test('this version upgrades and serves the data of the previous one', async () => {
  const database = await createTestDatabase()
  const before = new pg.Client(database.url)
  await before.connect()
  try {
    await before.query(readFileSync(join(fixture, 'database.sql'), 'utf8'))
    const directory = host.path('before')
    mkdirSync(join(directory, 'eventstore'), { recursive: true })
    cpSync(join(fixture, 'events.sqlite'), join(directory, 'eventstore/events.sqlite'))
    const environment = {
      KEYLEDGER_DATA_DIR: directory,
      KEYLEDGER_DATABASE_URL: database.url,
      KEYLEDGER_MASTER_KEY: masterKey,
    }

    const server = await host.serve(environment)
    const vendor = client(server.address, token)
    const validate = (key: string, device?: object) =>
      vendor.send('POST', '/v1/licenses/validate', { product_id: 'editor', license_key: key, ...device })
    expect((await validate(licenseKey, { device_id: contents.deviceId })).body).toMatchObject({
      valid: true,
      entitlements: ['export'],
    })
    expect((await validate(revokedKey)).body).toMatchObject({ valid: false, status: 'revoked' })
    expect((await validate(importedKey)).body).toMatchObject({ valid: true })
    // Sealed under a key in the vault, which the master key opens.
    expect((await vendor.send('GET', `/v1/licenses/${licenseId}`)).body).toMatchObject({
      license: { email: contents.email, seatsUsed: 1 },
    })
    const minted = await vendor.send('POST', '/v1/licenses', {
      productId: 'editor',
      email: 'new@example.com',
    })
    expect(minted.status).toBe(201)
    // Licenses that the previous version minted and imported were in no feed.
    const fed = Items.parse((await vendor.send('GET', '/v1/events?limit=100')).body).items
    const issued = fed.filter(({ sequence }) => sequence === 1).map(({ license_id }) => license_id)
    const listed = Items.parse((await vendor.send('GET', '/v1/licenses?limit=100')).body).items
    expect(listed.length).toBeGreaterThan(3)
    expect(issued.sort()).toStrictEqual(listed.map(({ id }) => id).sort())
    await server.end('SIGTERM')

    const replayed = await host.run(['audit', 'replay'], environment)
    expect(replayed).toMatchObject({ code: 0 })
    const found = await host.json(Verified, ['projections', 'verify'], environment)
    expect(found).toStrictEqual({ ...found, differences: [] })
  } finally {
    await before.end()
    await database.drop()
  }
})
