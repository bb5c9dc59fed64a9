/** A color as the vendor gives it. */
export const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/.test(text)

type Rgb = readonly [red: number, green: number, blue: number]

const rgbOf = (color: string): Rgb => [
  Number.parseInt(color.slice(1, 3), 16),
  Number.parseInt(color.slice(3, 5), 16),
  Number.parseInt(color.slice(5, 7), 16),
]

const hexOf = (rgb: Rgb): string =>
  `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

/** The relative luminance of WCAG 2. */
function luminance(color: string): number {
  const [red, green, blue] = rgbOf(color).map((part) => {
    const share = part / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast of two colors, from 1 to 21, by WCAG 2. */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((left, right) => left - right) as [
    number,
    number,
  ]
  return (light + 0.05) / (dark + 0.05)
}

/** What WCAG 2 asks of text. */
const readable = 4.5

/** The pages that the accent is read on, darkest of the light ones and lightest of the dark ones. */
export const portalPapers = { light: '#f5f5f4', dark: '#232326' } as const

/** Whether links and buttons in this color can be read on a light page. */
export const isReadableAccent = (color: string): boolean => contrast(color, portalPapers.light) >= readable

/** The color, made lighter until it can be read on a dark page. */
export function accentOnDark(color: string): string {
  const [red, green, blue] = rgbOf(color)
  for (let step = 0; step < 20; step++) {
    const lighter = (part: number) => part + ((255 - part) * step) / 20
    const mixed = hexOf([lighter(red), lighter(green), lighter(blue)])
    if (contrast(mixed, portalPapers.dark) >= readable) return mixed
  }
  return '#ffffff'
}
