/** One line of the report: the measured value, the baseline, and the limit. */
export type Figure = {
  what: string
  measured: string
  against: string
  ratio: string
  bar: string
  holds: boolean
}

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en-US')}/s`
export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
export const percent = (share: number): string => `${Math.round(share * 100)} %`

export function report(figures: readonly Figure[]): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    row(['what', 'measured', 'against', 'ratio', 'bar', 'holds']),
    row(['---', '---', '---', '---', '---', '---']),
    ...figures.map((figure) =>
      row([
        figure.what,
        figure.measured,
        figure.against,
        figure.ratio,
        figure.bar,
        figure.holds ? 'yes' : '**no**',
      ]),
    ),
  ].join('\n')
}
