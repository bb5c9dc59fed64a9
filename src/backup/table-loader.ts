import { once } from 'node:events'
import type { ClientBase } from 'pg'
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams'
import type { Manifest } from './format.ts'
import { copyIn } from './tables.ts'

/** Loads the bytes of tables, one table after another, within an open transaction. */
export type TableLoader = {
  write(table: string, bytes: Uint8Array): Promise<void>
  /** @throws Error when a table has another number of rows than the backup */
  end(): Promise<void>
}

export function createTableLoader(client: ClientBase, tables: Manifest['tables']): TableLoader {
  let open: { name: string; rows: CopyStreamQuery; done: Promise<unknown> } | undefined

  async function begin(name: string) {
    const table = tables.find((known) => known.name === name)
    if (!table) throw new Error(`the manifest does not describe ${name}`)
    // The backup contains the counts that the triggers would add.
    await client.query(`alter table ${name} disable trigger user`)
    const rows = client.query(copyFrom(copyIn(name, table.columns)))
    const done = once(rows, 'finish')
    // Reported at the end of the table.
    done.catch(() => undefined)
    return { name, rows, done }
  }

  async function end(): Promise<void> {
    if (!open) return
    const { name, rows, done } = open
    open = undefined
    rows.end()
    await done
    await client.query(`alter table ${name} enable trigger user`)
    const expected = tables.find((known) => known.name === name)?.rows
    if (rows.rowCount !== expected) {
      throw new Error(`${name} has ${rows.rowCount} rows, but the backup has ${expected}`)
    }
  }

  return {
    async write(table, bytes) {
      if (open?.name !== table) await end()
      open ??= await begin(table)
      if (!open.rows.write(bytes)) await Promise.race([once(open.rows, 'drain'), open.done])
    },
    end,
  }
}
