/** Of the matrix, and of what the outcomes look like. */
export const MATRIX_STYLE = `
.silently_wrong,.noticed_too_late,.hung{--tone:var(--fail)}.gave_up_safely{--tone:var(--review)}.survived{--tone:var(--pass)}
.matrix th:first-child{position:sticky;left:0;background:var(--paper);white-space:nowrap}
.matrix td{text-align:center;white-space:nowrap;color:var(--tone);font-weight:600}
.matrix th{vertical-align:bottom;overflow-wrap:normal}.matrix thead th:not(:first-child){text-align:center}
.silently_wrong.cell,.hung.cell,.noticed_too_late.cell{background:var(--card);outline:1px solid var(--tone);outline-offset:-2px}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.2rem;margin:.8rem 0 0;font-size:.875rem}.legend b{color:var(--tone)}
@media (max-width:40rem){.matrix{font-size:.8rem}.matrix th,.matrix td{padding:.3rem}
.matrix th:first-child{white-space:normal;min-width:7.5rem}
.matrix thead th:not(:first-child){writing-mode:vertical-rl;text-align:right}}
`
