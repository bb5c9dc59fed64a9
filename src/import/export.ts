import { groupOnDisk } from './files/grouped.ts'
import { exportFiles, itemsOf } from './files/items.ts'
import type { ForeignLicense, ForeignOrganization, ForeignPolicy, Unusable } from './foreign.ts'
import type { Piece, Source } from './sources/source.ts'

/** The licenses of an export, which can be read several times, always in the same order. */
export type Export = {
  policies: ForeignPolicy[]
  /** Also those that have no licenses. */
  organizations: readonly ForeignOrganization[]
  licenses(): AsyncIterable<ForeignLicense | Unusable>
  close(): void
}

const unreadable = 'unreadable'

/**
 * Reads an export: a file, or a directory with several.
 * @param workDirectory emptied, filled with the licenses and their devices side by side, and deleted by `close`
 * @throws ImportProblem when there is no such file, or one cannot be read as a whole
 */
export async function openExport(source: Source, path: string, workDirectory: string): Promise<Export> {
  const grouped = await groupOnDisk(piecesOf(source, await exportFiles(path)), workDirectory)
  return {
    policies: source.policiesIn(grouped.shared),
    organizations: source.organizationsIn?.(grouped.shared) ?? [],
    async *licenses() {
      for await (const pieces of grouped.groups()) {
        const [first] = pieces
        if (first?.kind !== unreadable) yield* source.licensesIn(pieces, grouped.shared)
        else yield { from: first.from, externalId: null, licenseKey: null, problem: String(first.data) }
      }
    },
    close: grouped.remove,
  }
}

async function* piecesOf(source: Source, files: readonly string[]): AsyncIterable<Piece> {
  for await (const item of itemsOf(files)) {
    const { from } = item
    const read = 'problem' in item ? item.problem : source.pieceOf(item)
    if (typeof read === 'string')
      yield { kind: unreadable, id: from, group: `${unreadable} ${from}`, from, data: read }
    else if (read !== undefined) yield* [read].flat()
  }
}
