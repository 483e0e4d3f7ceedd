/** An expression for a page: its texts that are too faint (WCAG 2.2, 1.4.3), each with its contrast. */
export const FAINT_TEXTS = `(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number)
  const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((value) => linear(value / 255))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const paperOf = (element) => {
    if (!element) return 'rgb(255, 255, 255)'
    const { backgroundColor } = getComputedStyle(element)
    return channels(backgroundColor)[3] === 0 ? paperOf(element.parentElement) : backgroundColor
  }
  const ownText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
  return [...document.body.querySelectorAll('*')].filter(ownText).flatMap((element) => {
    const [text, paper] = [luminance(getComputedStyle(element).color), luminance(paperOf(element))]
    const contrast = (Math.max(text, paper) + 0.05) / (Math.min(text, paper) + 0.05)
    return contrast < 4.5 ? [contrast.toFixed(2) + ' ' + element.className + ' ' + element.textContent.slice(0, 40)] : []
  })
})()`
