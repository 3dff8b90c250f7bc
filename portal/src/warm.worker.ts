/** Has a browser read what it knows of locales, which is slow at the first time, while the page's own thread draws. It ends by itself. */
const dollars = { style: 'currency', currency: 'USD' } as const
for (const options of [{}, { style: 'percent' }, dollars, { ...dollars, notation: 'compact' }] as const)
  new Intl.NumberFormat(undefined, options).format(-1.5)
new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }).format(0)
close()

export {}
