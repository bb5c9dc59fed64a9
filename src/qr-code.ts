import { createRequire } from 'node:module'
import { type Html, html } from './html.ts'

const require = createRequire(import.meta.url)

const quietZone = 4

/** A QR code as inline SVG, made without another service. */
export function qrCode(text: string, label: string, className = 'qr'): Html {
  // Loaded for the first code: it brings encoders for images, and most processes draw no code.
  const { create } = require('qrcode') as typeof import('qrcode')
  const { modules } = create(text, { errorCorrectionLevel: 'L' })
  const side = modules.size + 2 * quietZone
  const dots: string[] = []
  for (let row = 0; row < modules.size; row++) {
    for (let column = 0; column < modules.size; column++) {
      if (modules.get(row, column)) dots.push(`M${column + quietZone} ${row + quietZone}h1v1h-1z`)
    }
  }
  return html`<svg class=${className} viewBox=${`0 0 ${side} ${side}`} role="img" aria-label=${label} shape-rendering="crispEdges">
    <path d=${dots.join('')} />
  </svg>`
}
