import type { ClientBase } from 'pg'

/**
 * Waits for statements that were sent to one connection without waiting for each other. When one fails, the
 * others are waited for too, so that nothing is still on its way when the transaction is given up.
 * @throws what the first of them that failed threw: those behind it only say that the transaction is of no more use
 */
export async function inPipeline<const Work extends readonly unknown[]>(
  work: Work,
): Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }> {
  let first: { error: unknown } | undefined
  const noticed = work.map(async (one) => {
    try {
      return await one
    } catch (error) {
      first ??= { error }
      throw error
    }
  })
  await Promise.allSettled(noticed)
  if (first) throw first.error
  return Promise.all(work)
}

/** Writes rows given as JSON in a statement that is prepared once a connection; without rows nothing is sent. */
export async function writeRows(
  db: ClientBase,
  name: string,
  text: string,
  rows: readonly object[],
): Promise<void> {
  if (rows.length > 0) await db.query({ name, text, values: [JSON.stringify(rows)] })
}
