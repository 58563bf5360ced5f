"use strict";
(() => {
  // figures, charts and plotly.js are compressed texts in elements of the page
  async function unpacked(element) {
    const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  async function unpackFigures() {
    for (const figure of document.querySelectorAll("script.figure")) {
      const picture = figure.previousElementSibling;
      try {
        picture.src = URL.createObjectURL(new Blob([await unpacked(figure)], { type: "image/svg+xml" }));
      } catch (error) {
        picture.replaceWith(`The figure needs a browser of 2023 or later (${error.message}). It shows: ${picture.alt}`);
      }
    }
  }
  unpackFigures();

  // plotly.js is unpacked when the first chart is opened: the page itself opens at once
  let loading = null;
  const plotly = () => (loading ??= (async () => {
    const script = document.createElement("script");
    script.textContent = await unpacked(document.getElementById("plotly"));
    document.head.append(script);
    return window.Plotly;
  })());

  const shown = (button) => button.getAttribute("aria-pressed") === "true";
  const legend = (explorer) => [...explorer.querySelectorAll("[data-trace]")];

  async function show(explorer, wanted) {
    const buttons = legend(explorer);
    for (const button of buttons) button.setAttribute("aria-pressed", String(wanted(button)));
    const chart = await drawn(explorer);
    const visible = buttons.map((button) => (shown(button) ? true : "legendonly"));
    if (chart) await Plotly.restyle(chart, { visible }, buttons.map((button) => Number(button.dataset.trace)));
  }

  function drawn(explorer) {
    return (explorer.drawing ??= (async () => {
      const chart = explorer.querySelector(".chart");
      try {
        const figure = JSON.parse(await unpacked(explorer.querySelector(".data")));
        const library = await plotly();
        await library.newPlot(chart, figure.data, figure.layout, { displayModeBar: false, responsive: true });
        // screen readers use the container's label and the tables instead of the drawing
        for (const svg of document.querySelectorAll(".chart svg, #js-plotly-tester")) svg.setAttribute("aria-hidden", "true");
        return chart;
      } catch (error) {
        chart.closest(".paper").hidden = true;
        explorer.querySelector(".failed").textContent = `The chart needs a browser of 2023 or later (${error.message}). The table below has its numbers.`;
        return null;
      }
    })());
  }

  for (const panel of document.querySelectorAll("details.panel")) {
    panel.addEventListener("toggle", () => { if (panel.open) drawn(panel.querySelector(".explorer")); });
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".explorer button");
    if (!button) return;
    const explorer = button.closest(".explorer");
    const { show: preset } = button.dataset;
    if (preset) show(explorer, (other) => preset === "all" || other.dataset.group === preset);
    else show(explorer, (other) => (other === button) !== shown(other));
  });
  // an address that names a panel opens it
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
