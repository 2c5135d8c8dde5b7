"""
A graph: who went to which party
================================

The southern women data (Davis, Gardner & Gardner, 1941): 18 women, 14 events, and who came to
which. Which circles does that make? Nobody says how many there are: the clustering finds that
too, and proves how far from the best it can be.

``python examples/bipartite_graph.py circles.png`` writes the picture to a file.
"""

# %%
# The graph
# ---------
# It comes with networkx. A 0/1 matrix, a list of edges (:func:`orthonmf.Biadjacency.from_edges`)
# or a sparse matrix would do as well.

import sys

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from orthonmf import BipartiteCorrelationClustering

graph = nx.davis_southern_women_graph()
print(graph)

# %%
# Circles of women and events
# ---------------------------
# A circle is a set of women and events. A *disagreement* is a visit outside all circles, or an
# event that a woman of its circle did not come to. The fewer, the better; the certificate
# compares their number with one that no clustering can go below.

model = BipartiteCorrelationClustering(random_state=0).fit(graph)
print(f"{len(model.rows_)} circles, {model.disagreements_} disagreements")
print(model.certificate_)
women, events = model.row_names_, model.column_names_
for number, (members, occasions) in enumerate(zip(model.rows_, model.columns_, strict=True), 1):
    print(f"circle {number}: {', '.join(women[members])} at {', '.join(events[occasions])}")

# %%
# The picture
# -----------
# The table of attendance with its rows and columns ordered by circle. White inside a frame and
# black outside of one are the disagreements.

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
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=100)
    print(f"picture: {sys.argv[1]}")
plt.show()
