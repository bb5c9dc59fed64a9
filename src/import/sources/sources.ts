import type { SourceName } from '../foreign.ts'
import { cryptlexSource } from './cryptlex.ts'
import { type CsvColumn, csvSource } from './csv.ts'
import { gumroadSource } from './gumroad.ts'
import { keygenSource } from './keygen.ts'
import { lemonSqueezySource } from './lemonsqueezy.ts'
import { paddleSource } from './paddle.ts'
import type { Source } from './source.ts'

/** @param columns which column of a CSV file each known column is, where the names differ */
export function sourceOf(name: SourceName, { columns }: { columns: ReadonlyMap<string, CsvColumn> }): Source {
  switch (name) {
    case 'keygen':
      return keygenSource
    case 'lemonsqueezy':
      return lemonSqueezySource
    case 'gumroad':
      return gumroadSource
    case 'cryptlex':
      return cryptlexSource
    case 'paddle':
      return paddleSource
    case 'csv':
      return csvSource(columns)
  }
}
