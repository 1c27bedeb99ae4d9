"""axe-core in a page: which rules of accessibility it violates."""

from __future__ import annotations

from pathlib import Path

from tests.page.browser.chromium import Page

AXE = Path(__file__).with_name("axe") / "axe.min.js"
RUN = """(async () => {
    const canvases = [...document.querySelectorAll('canvas, [role=gridcell]')];
    const all = await axe.run(document);
    for (const canvas of canvases) canvas.style.visibility = 'hidden';  // else they hide the ground of texts
    const contrast = await axe.run(document, { runOnly: ['color-contrast'] });
    for (const canvas of canvases) canvas.style.visibility = '';
    return { found: [...all.violations, ...contrast.violations].map(
        (rule) => `${rule.id}: ${rule.nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`),
        checked: contrast.passes.reduce((sum, rule) => sum + rule.nodes.length, 0) };
})()"""


def violations(page: Page) -> list[str]:
    """Each violated rule with its elements; the contrast of texts in the drawing is checked too."""
    page.evaluate(AXE.read_text() + ";0")
    result = page.evaluate(RUN)
    assert result["checked"] > 5, "axe has compared no colours"
    return result["found"]
