import { counted } from '../../gate/words.ts'
import { type Content, type Html, html } from '../../html.ts'
import { section } from '../frame/parts.ts'
import { reasonName, refusalsPath } from '../refusals/words.ts'

/** The refused activations of a day by reason. */
export type RefusedToday = readonly { reason: string; count: number }[]

/** `12 refused activations today: 9 seat limit, 3 unknown key`, each a link; undefined when there are none. */
export function refusedToday(refused: RefusedToday): Content {
  const all = refused.reduce((sum, { count }) => sum + count, 0)
  if (all === 0) return undefined
  const parts = refused.flatMap(({ reason, count }, index): (Html | string)[] => [
    index === 0 ? ' ' : ', ',
    html`<a href=${refusalsPath({ call: 'activate', reason })}>${count.toLocaleString('en')} ${reasonName(reason)}</a>`,
  ])
  return section(
    'Refused today',
    html`<p>
      <a href=${refusalsPath({ call: 'activate' })}>${counted(all, 'refused activation', 'refused activations')}</a>${' '}
      since midnight UTC:${parts}.
    </p>`,
  )
}
