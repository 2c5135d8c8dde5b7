"""A bipartite graph: who went to which party, and which circles that makes.

The southern women data (Davis, Gardner & Gardner, 1941): 18 women, 14 events. Nobody says how many
circles there are; the clustering finds that too, and proves how far from the best it can be.

    python examples/bipartite_graph.py circles.png
"""

# %% The graph comes with networkx.
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from orthant import BipartiteCorrelationClustering

graph = nx.davis_southern_women_graph()

# %% Circles of women and events together, as few disagreements as can be found.
model = BipartiteCorrelationClustering(random_state=0).fit(graph)
print(f"{len(model.rows_)} circles, {model.disagreements_} disagreements")
print(model.certificate_)
women, events = model.row_names_, model.column_names_
for number, (members, occasions) in enumerate(zip(model.rows_, model.columns_, strict=True), 1):
    print(f"circle {number}: {', '.join(women[members])} at {', '.join(events[occasions])}")

# %% A picture: the table of attendance, ordered by circle.
X = nx.bipartite.biadjacency_matrix(graph, list(women), list(events)).toarray()
rows = np.argsort(model.row_labels_, kind="stable")
columns = np.argsort(model.column_labels_, kind="stable")
figure, axes = plt.subplots(figsize=(7, 6.5), layout="constrained")
axes.imshow(X[np.ix_(rows, columns)], cmap="Greys", vmax=1.5)
axes.set_xticks(range(len(events)), events[columns])
axes.set_yticks(range(len(women)), women[rows])
for number in range(len(model.rows_)):
    inside_rows = np.flatnonzero(model.row_labels_[rows] == number)
    inside_columns = np.flatnonzero(model.column_labels_[columns] == number)
    corner = (inside_columns[0] - 0.5, inside_rows[0] - 0.5)
    size = (len(inside_columns), len(inside_rows))
    axes.add_patch(plt.Rectangle(corner, *size, fill=False, edgecolor=f"C{number}", lw=3))
axes.set_title(f"{len(model.rows_)} circles; {model.certificate_}", fontsize="small", wrap=True)
path = sys.argv[1] if len(sys.argv) > 1 else "bipartite_graph.png"
figure.savefig(path, dpi=100)
print(f"picture: {path}")
