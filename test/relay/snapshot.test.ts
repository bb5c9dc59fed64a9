/** Guarantee: what a process reads of a relay's file is of one moment, while the relay goes on writing. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/relay/store/database.ts'

test('a read sees nothing that is written meanwhile, and the next one does', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kl-'))
  const [relay, status] = [openDatabase(directory), openDatabase(directory)]
  onTestFinished(() => {
    relay.close()
    status.close()
    rmSync(directory, { recursive: true })
  })
  const tables = () =>
    status.read((file) => {
      const count = () => file.prepare('select count(*) as n from sqlite_master').get()?.n
      const before = count()
      relay.transact((own) => own.exec('create table if not exists meanwhile (n)'))
      return [before, count()]
    })
  const [before, meanwhile] = tables()
  expect(meanwhile).toBe(before)
  expect(tables()[0]).toBe(Number(before) + 1)
})
