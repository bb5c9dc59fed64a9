const showAfterMs = 500

/**
 * Counts long work on stderr: redrawn in place at a terminal, an occasional line elsewhere. Short work shows nothing.
 * @param total how many there are, when it is known
 */
export function countProgress(title: string, unit: string, total?: number) {
  const started = performance.now()
  const terminal = process.stderr.isTTY
  let lastShown = started
  const line = (done: number): string => {
    const perSecond = Math.round(done / ((performance.now() - started) / 1000))
    const of =
      total === undefined ? '' : ` of ${inGroups(total)}, ${Math.floor((done / (total || 1)) * 100)} %`
    return `${title}: ${inGroups(done)}${of} ${unit}, ${inGroups(perSecond)}/s`
  }
  return {
    update(done: number): void {
      const now = performance.now()
      if (now - lastShown < (terminal ? 100 : 5000) || now - started < showAfterMs) return
      lastShown = now
      process.stderr.write(terminal ? `\r${line(done)}\x1b[K` : `${line(done)}\n`)
    },
    done(done: number): void {
      if (lastShown !== started)
        process.stderr.write(`${terminal ? '\r' : ''}${line(done)}${terminal ? '\x1b[K' : ''}\n`)
    },
  }
}

const inGroups = (value: number): string => value.toLocaleString('en-US')
