import type { SourceName } from '../foreign.ts'
import { type CsvColumn, csvSource } from './csv.ts'
import type { Source } from './source.ts'

/** @param columns which column of a CSV file each known column is, where the names differ */
export function sourceOf(name: SourceName, { columns }: { columns: ReadonlyMap<string, CsvColumn> }): Source {
  switch (name) {
    case 'csv':
      return csvSource(columns)
    default:
      throw new Error(`${name} is not here yet`)
  }
}
